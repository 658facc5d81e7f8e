# The fuzz corpora, replayed with any compiler; with CULL_FUZZ the libFuzzer programs as well.
add_custom_target(fuzzers)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(source ${fuzz_sources})
  get_filename_component(target ${source} NAME_WE)
  string(REPLACE fuzz_ "" target ${target})
  add_executable(replay_${target} fuzz/fuzz_${target}.c fuzz/replay.c)
  target_link_libraries(replay_${target} PRIVATE cull_flags cull_static)
  set_target_properties(replay_${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
    ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME fuzz_${target} COMMAND replay_${target}
    ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${target})
  set_tests_properties(fuzz_${target} PROPERTIES TIMEOUT 300)
  if(CULL_FUZZ)
    add_executable(fuzz_${target} fuzz/fuzz_${target}.c)
    target_link_libraries(fuzz_${target} PRIVATE cull_flags cull_static)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
      ${PROJECT_BINARY_DIR}/tests)
    add_dependencies(fuzzers fuzz_${target})
  endif()
endforeach()
if(CULL_FUZZ)
  # Coverage feedback for all of the library, so that libFuzzer sees where inputs lead.
  target_compile_options(cull_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(cull_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The program on case files; skipped (77) where numpy is not there.
set(slow)
if(CULL_SANITIZE)
  set(slow --slow)
endif()
file(GLOB case_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/cases/*.txt)
set(slow)
if(CULL_SANITIZE)
  set(slow --slow)
endif()
foreach(case_file ${case_files})
  get_filename_component(name ${case_file} NAME_WE)
  add_test(NAME cli_${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.py
    --cull $<TARGET_FILE:program> ${slow} ${case_file})
  # What a run leaves is asked for to the bit: on the processor, also where there is a device.
  set_tests_properties(cli_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600
    ENVIRONMENT "CULL_MODULES=${PROJECT_BINARY_DIR}/none")
endforeach()
set_tests_properties(cli_compare cli_train PROPERTIES COST 300)

# Where a run touches its files, its test may kill it or let the disk be full.
target_link_options(test_trainer PRIVATE -Wl,--wrap=write,--wrap=fsync,--wrap=rename,--wrap=unlink)
target_link_options(test_convert PRIVATE -Wl,--wrap=write,--wrap=fsync)

# The guard of the benchmarks, by made-up readings.
add_test(NAME bench_quiet COMMAND /usr/bin/python3
  ${CMAKE_CURRENT_SOURCE_DIR}/bench/test_quiet.py)
