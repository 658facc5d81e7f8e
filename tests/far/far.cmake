# The backend `far` (far.c says what it is), and the tests and the program that have it, and `emu`
# where that is (emu.cmake).
add_library(far OBJECT far/far.c far/far_layers.c far/far_log.c far/far_memory.c far/far_ops.c
  far/far_queue.c ${PROJECT_SOURCE_DIR}/src/backend/registry.c)
target_link_libraries(far PRIVATE cull_flags)
target_compile_definitions(far PRIVATE CULL_BACKEND_FAR _DEFAULT_SOURCE
  $<$<NOT:$<BOOL:${CULL_DNNL}>>:CULL_WITHOUT_DNNL>)
if(emu_is_here)
  target_compile_definitions(far PRIVATE CULL_BACKEND_EMU)
endif()

# A program with both. Its list of backends is there before the library's, which is then not taken.
function(cull_with_far)
  foreach(name ${ARGN})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:far> ${emu_objects})
  endforeach()
endfunction()
# Those that plan what the imitation does, or know its runtime.
function(cull_with_emu)
  cull_with_far(${ARGN})
  foreach(name ${ARGN})
    target_include_directories(${name} PRIVATE emu/include emu)
  endforeach()
endfunction()
foreach(source ${emu_tests})
  get_filename_component(name ${source} NAME_WE)
  cull_with_emu(${name})
endforeach()
# All tests of operations and of `far`, and those elsewhere that go through every backend.
file(GLOB over_backends CONFIGURE_DEPENDS far/test_*.c ops/test_*.c)
foreach(source ${over_backends})
  get_filename_component(name ${source} NAME_WE)
  cull_with_far(${name})
endforeach()
cull_with_far(test_optim test_sequences)

# `cull` with it, of the same objects.
add_executable(cull_far $<TARGET_OBJECTS:program>)
cull_with_far(cull_far)
target_link_libraries(cull_far PRIVATE cull_flags cull_static)
set_target_properties(cull_far PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
# Its parts run under the sanitizers by themselves.
if(NOT CULL_SANITIZE)
  add_test(NAME far_program COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/far/test_far_program.py
    $<TARGET_FILE:cull_far>)
endif()
