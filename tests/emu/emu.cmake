# The CUDA backend's sources as a test backend `emu`, over an imitation of the runtime for the host
# (include/cuda_runtime_api.h says how far it goes). What needs cuDNN or cuBLAS, and the module itself,
# is left out. It needs a C++ compiler, and no toolkit; the thread sanitizer does not know its fibres.
include(CheckLanguage)
check_language(CXX)
set(emu_is_here OFF)
if(CMAKE_CXX_COMPILER AND NOT CULL_SANITIZE MATCHES "thread")
  enable_language(CXX)
  set(emu_is_here ON)
endif()
if(NOT emu_is_here)
  return()
endif()

# Of C, and of C++ for the host: what kernels are here.
file(GLOB emu_c CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/cuda/*.c)
file(GLOB emu_cxx CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/cuda/*.cu
  ${PROJECT_SOURCE_DIR}/src/backend/cuda/*.cpp)
list(REMOVE_ITEM emu_c ${PROJECT_SOURCE_DIR}/src/backend/cuda/module.c)
foreach(source ${emu_c} ${emu_cxx})
  file(STRINGS ${source} needs LIMIT_COUNT 1 REGEX "include [<\"](cudnn|cublas|backend/cuda/nn_library[.]hpp)")
  if(needs)
    list(REMOVE_ITEM emu_c ${source})
    list(REMOVE_ITEM emu_cxx ${source})
  endif()
endforeach()
list(APPEND emu_cxx ${CMAKE_CURRENT_SOURCE_DIR}/emu/trial.cu)
set_source_files_properties(${emu_cxx} PROPERTIES LANGUAGE CXX)

add_library(emu_flags INTERFACE)
target_include_directories(emu_flags INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/emu/include
  ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(emu_flags INTERFACE CULL_EMU CULL_CUDA_NAME="emu" _DEFAULT_SOURCE
  cull_backend_cuda=cull_backend_emu cull_layers_cuda=cull_layers_emu)

add_library(emu OBJECT ${emu_c} emu/emu_device.c emu/emu_fibre.c emu/emu_graph.c emu/emu_memory.c
  emu/emu_run.c emu/emu_stream.c)
target_link_libraries(emu PRIVATE emu_flags cull_flags)
add_library(emu_kernels OBJECT ${emu_cxx})
target_link_libraries(emu_kernels PRIVATE emu_flags)
target_compile_options(emu_kernels PRIVATE -std=c++17 -Wall -Wno-unknown-pragmas
  -Wno-unused-function -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-exceptions -fno-rtti
  $<$<NOT:$<CONFIG:Debug>>:-O2>)
if(CULL_SANITIZE)
  target_compile_options(emu_kernels PRIVATE -fsanitize=${CULL_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -g1)
endif()
set(emu_objects $<TARGET_OBJECTS:emu> $<TARGET_OBJECTS:emu_kernels>)

# The modules over the imitation, for tests of what opens them alone: of selection, which libcull_select opens as
# "cuda" where CULL_MODULES names its folder, for the Python tests; and of all, which libcull opens. They are
# installed nowhere.
function(emu_module target output)
  add_library(${target} MODULE ${PROJECT_SOURCE_DIR}/src/backend/cuda/module.c emu/emu_python.c ${emu_objects}
    ${PROJECT_SOURCE_DIR}/src/backend/layers.c ${PROJECT_SOURCE_DIR}/src/backend/memory.c
    ${PROJECT_SOURCE_DIR}/src/backend/kit.c ${PROJECT_SOURCE_DIR}/src/backend/operations.c
    ${PROJECT_SOURCE_DIR}/src/tensor/tensor.c ${PROJECT_SOURCE_DIR}/src/tensor/device.c
    ${PROJECT_SOURCE_DIR}/src/base/clock.c far/far_memory.c)
  target_link_libraries(${target} PRIVATE emu_flags cull_flags Threads::Threads m)
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic -Wl,--no-undefined)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/emu_module)
endfunction()
if(NOT CULL_SANITIZE)
  emu_module(emu_select cull_cuda_select)
  target_compile_definitions(emu_select PRIVATE CULL_WITHOUT_LAYERS)
  emu_module(emu_cuda cull_cuda)
  add_test(NAME emu_program COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/emu/test_emu_program.py
    $<TARGET_FILE:program> $<TARGET_FILE_DIR:emu_cuda>)
endif()
