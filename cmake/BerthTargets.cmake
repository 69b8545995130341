# SPDX-License-Identifier: Apache-2.0
# berth_add_library(NAME base SOURCES a.cpp HEADERS berth/base/a.hpp LINKS berth::x PRIVATE fmt::fmt)
#   target berth_base, alias berth::base; HEADERS are public, relative to include/, each verified
#   to compile alone (target all_verify_interface_header_sets).
# berth_add_test(NAME x_test SOURCES x_test.cpp LINKS berth::x [NP 1 2 4] [LABELS unit]
#                [TIMEOUT s] [ENVIRONMENT VAR=value ...])
#   without NP: a plain test; with NP: one test per rank count, under mpiexec, label mpi; OpenMP
#   then waits asleep, for ranks x threads may exceed the cores. Two tests run at a time (presets),
#   of more ranks than one no other beside it.
include_guard(GLOBAL)

add_library(berth_flags INTERFACE)
target_compile_features(berth_flags INTERFACE cxx_std_20)
set(build_flags -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off)
if(BERTH_WERROR)
  list(APPEND build_flags -Werror)
endif()
# Counting bits is a function call without it. Every x86-64 server since 2009 supports it; it does
# not bring fused multiply-add, so results keep their bits.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND build_flags -march=x86-64-v2)
endif()
target_compile_options(berth_flags INTERFACE "$<BUILD_INTERFACE:${build_flags}>")
# g++ 12 warns of overlapping copies in plain string appends (GCC bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(berth_flags INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
# Unity build: half the compile time; GCC's warning about classes in unnamed namespaces does not
# apply.
if(CMAKE_UNITY_BUILD)
  target_compile_options(berth_flags INTERFACE $<BUILD_INTERFACE:-Wno-subobject-linkage>)
endif()
set(levels none normal heavy)
list(FIND levels ${BERTH_ASSERTIONS} assertion_level)
if(assertion_level LESS 0)
  message(FATAL_ERROR "BERTH_ASSERTIONS=${BERTH_ASSERTIONS}: expected none, normal or heavy")
endif()
target_compile_definitions(berth_flags INTERFACE BERTH_ASSERTION_LEVEL=${assertion_level})
if(BERTH_SANITIZE)
  # Tests take a third of the time at -O1; lines are enough for a report. Checks of every pointer are
  # half of the compile time; AddressSanitizer finds most of what they would.
  set(pointer_checks null,alignment,vptr,pointer-overflow,object-size,nonnull-attribute)
  set(sanitizers -fsanitize=address,undefined
      -fno-sanitize=${pointer_checks},returns-nonnull-attribute -fno-sanitize-recover=undefined)
  # The code of tests is not what is tested, and is half of the compile time.
  set(is_tested "$<NOT:$<BOOL:$<TARGET_PROPERTY:BERTH_TEST_CODE>>>")
  target_compile_options(berth_flags INTERFACE -O1 -g1 "$<${is_tested}:${sanitizers}>"
                         -fno-omit-frame-pointer)
  target_link_options(berth_flags INTERFACE -fsanitize=address,undefined)
endif()

function(berth_add_library)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;HEADERS;LINKS;PRIVATE" ${ARGN})
  set(target berth_${arg_NAME})
  set_property(GLOBAL APPEND PROPERTY BERTH_LIBRARIES ${arg_NAME})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(berth::${arg_NAME} ALIAS ${target})
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                                         FILES ${arg_HEADERS})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC berth_flags ${arg_LINKS} PRIVATE ${arg_PRIVATE})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON
                                             POSITION_INDEPENDENT_CODE ON)
endfunction()

function(berth_add_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LINKS;NP;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(BERTH_SANITIZE)
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  # What a test measures lies in the libraries; its own code need not be fast, but quick to compile.
  target_compile_options(${arg_NAME} PRIVATE -O1)
  target_precompile_headers(${arg_NAME} REUSE_FROM berth_googletest)
  set_target_properties(${arg_NAME} PROPERTIES BERTH_TEST_CODE ON)
  if(BERTH_SANITIZE)
    target_compile_definitions(${arg_NAME} PRIVATE BERTH_SANITIZED)  # the libraries are
  endif()
  if(arg_NP)
    target_link_libraries(${arg_NAME} PRIVATE ${arg_LINKS} berth_mpi_main)
    add_dependencies(unit_and_mpi_tests ${arg_NAME})
    foreach(ranks IN LISTS arg_NP)
      set(test ${arg_NAME}.np${ranks})
      add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                                    $<TARGET_FILE:${arg_NAME}>)
      set_tests_properties(${test} PROPERTIES LABELS "mpi;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
        PROCESSORS ${ranks} ENVIRONMENT "HWLOC_PLUGINS_PATH=/nonexistent;ASAN_OPTIONS=detect_leaks=0;OMP_NUM_THREADS=1;OMP_WAIT_POLICY=passive;${arg_ENVIRONMENT}")
    endforeach()
  else()
    if(NOT arg_LABELS)
      set(arg_LABELS unit)
    endif()
    target_link_libraries(${arg_NAME} PRIVATE ${arg_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
    if(unit IN_LIST arg_LABELS)
      add_dependencies(unit_and_mpi_tests ${arg_NAME})
    endif()
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
    set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                         ENVIRONMENT "HWLOC_PLUGINS_PATH=/nonexistent;${arg_ENVIRONMENT}")
  endif()
endfunction()
