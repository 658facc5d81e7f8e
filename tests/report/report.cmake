# The report on sample folders; and its pages in a browser, which say the same for every compiler.
add_test(NAME report_folders COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/report/test_folders.py
  --cull $<TARGET_FILE:program>)
set_tests_properties(report_folders PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
# Pages of papers, from a description: every number that is drawn against what it was drawn from.
add_executable(paper_page report/paper_page.c)
target_link_libraries(paper_page PRIVATE cull_flags cull_static PkgConfig::JANSSON)
set_target_properties(paper_page PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_test(NAME report_papers COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/report/test_papers.py
  --draw $<TARGET_FILE:paper_page>)
set_tests_properties(report_papers PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
if(NOT CULL_SANITIZE)
  add_test(NAME report_page COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/report/test_page.py
    --cull $<TARGET_FILE:program> --draw $<TARGET_FILE:paper_page>)
  set_tests_properties(report_page PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200)
endif()
# Its PNGs are unpacked by zlib.
target_link_libraries(test_report PRIVATE ZLIB::ZLIB)
