# Tests that look at the tree and at what is built and installed, not at single functions. They say
# the same for every compiler and sanitizer, so they run with the plain release build alone.
foreach(printer strategy_docs recipe_docs)
  add_executable(${printer} tools/${printer}.c)
  target_link_libraries(${printer} PRIVATE cull_flags cull_static)
  set_target_properties(${printer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
endforeach()

file(GLOB example_sources CONFIGURE_DEPENDS examples/example_*.c)
foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE cull_flags cull)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endforeach()

if(CULL_SANITIZE OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  return()
endif()

set(tools ${PROJECT_SOURCE_DIR}/tools)
add_test(NAME check_includes COMMAND /usr/bin/python3 ${tools}/check_includes.py)
add_test(NAME check_words COMMAND /usr/bin/python3 ${tools}/check_words.py)
add_test(NAME check_symbols COMMAND /usr/bin/python3 ${tools}/check_symbols.py
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR})
add_test(NAME check_format COMMAND ${tools}/check_format.sh)
set_tests_properties(check_format PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME check_header_cxx COMMAND g++ -std=c++17 -fsyntax-only -Wall -Wextra -Wpedantic -Werror
  -x c++ ${PROJECT_SOURCE_DIR}/include/cull.h ${PROJECT_SOURCE_DIR}/include/cull_lab.h)
add_test(NAME check_layout COMMAND /usr/bin/python3 ${tools}/layout.py --check ${CMAKE_C_COMPILER}
  ${PROJECT_SOURCE_DIR}/include/cull.h ${PROJECT_SOURCE_DIR}/include/cull_lab.h)
add_test(NAME check_abi COMMAND /usr/bin/python3 ${tools}/abi.py --check ${CMAKE_C_COMPILER}
  ${PROJECT_SOURCE_DIR}/include/cull.h ${PROJECT_SOURCE_DIR}/python/src/cull/_abi.py
  $<TARGET_FILE:select>)
add_test(NAME check_readme_strategies COMMAND strategy_docs --names ${PROJECT_SOURCE_DIR}/README.md)
add_test(NAME check_readme_commands COMMAND /usr/bin/python3 ${tools}/check_readme.py
  ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_BINARY_DIR})
add_test(NAME check_strategies_page COMMAND ${tools}/check_stale.sh
  ${PROJECT_SOURCE_DIR}/docs/strategies.md $<TARGET_FILE:strategy_docs>)
add_test(NAME check_recipes_page COMMAND ${tools}/check_stale.sh
  ${PROJECT_SOURCE_DIR}/docs/recipes.md $<TARGET_FILE:recipe_docs>)
add_test(NAME check_guide COMMAND ${tools}/check_guide.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
add_test(NAME check_install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run.sh
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

# The Python package, installed into an environment of its own, with the system's numpy and torch.
add_test(NAME python_install COMMAND ${tools}/python_env.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(python_install PROPERTIES FIXTURES_SETUP python TIMEOUT 600)
function(cull_python_tests name folder)
  add_test(NAME ${name} COMMAND ${PROJECT_BINARY_DIR}/python/venv/bin/python -m unittest discover
    -s ${PROJECT_SOURCE_DIR}/python/${folder})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED python LABELS python TIMEOUT 600
    ENVIRONMENT "CULL_PROGRAM=$<TARGET_FILE:program>;CULL_MODULES=${PROJECT_BINARY_DIR}/none;PYTHONDONTWRITEBYTECODE=1;CULL_EMULATED=${PROJECT_BINARY_DIR}/tests/emu_module")
endfunction()
cull_python_tests(python_core tests)
cull_python_tests(python_torch tests_torch)

include(ProcessorCount)
ProcessorCount(cores)
add_test(NAME check_tidy COMMAND ${tools}/check_tidy.sh ${PROJECT_BINARY_DIR} ${cores})
set_tests_properties(check_tidy PROPERTIES PROCESSORS ${cores} COST 1000 TIMEOUT 600)
