# A room is a folder of sources that makes one library mt_<name>; every *_test.cpp in it goes into test_<name>.
# Sources are globbed, so a new file needs no list.

# Tests are compiled once and run once: with less optimisation, and headers that all of them share.
if(MT_TESTS)
  set(test_options $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees overruns that are none in sums of strings.
    list(APPEND test_options -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  add_executable(mt_test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/testing/main.cpp)
  target_link_libraries(mt_test_headers PRIVATE fmt::fmt GTest::gtest mt_options)
  target_compile_options(mt_test_headers PRIVATE ${test_options})
  target_precompile_headers(mt_test_headers PRIVATE ${PROJECT_SOURCE_DIR}/cmake/testing/headers.h)
endif()

# mt_tests(name folder libraries...): one GoogleTest executable from the *_test.cpp of a folder tree.
function(mt_tests name folder)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*_test.cpp)
  if(MT_TESTS AND tests)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE ${ARGN} GTest::gtest GTest::gtest_main mt_options)
    target_compile_definitions(test_${name} PRIVATE MT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(test_${name} PRIVATE ${test_options})
    target_precompile_headers(test_${name} REUSE_FROM mt_test_headers)
    add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# mt_room(name folder libraries...)
function(mt_room name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(NOT sources)
    add_library(mt_${name} INTERFACE)
    target_link_libraries(mt_${name} INTERFACE ${ARGN} mt_options)
  else()
    add_library(mt_${name} STATIC ${sources})
    target_link_libraries(mt_${name} PUBLIC ${ARGN} mt_options)
  endif()
  mt_tests(${name} ${folder} mt_${name})
endfunction()
