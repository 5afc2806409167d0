# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Functions that create targets.
#
#   zipmpi_layer(NAME DIR SOURCES... [DEPS layers...] [LINK libraries...] [TESTS files...])
#
# creates the static library zipmpi_NAME from one folder of src/. Its headers are included as "NAME/x.hpp" through an
# include directory with this folder only: a file that includes a layer which its target does not link fails to
# compile. Unit tests listed under TESTS become the executable NAME_test.

add_library(zipmpi_warnings INTERFACE)
target_compile_options(zipmpi_warnings INTERFACE -Wall -Wextra $<$<BOOL:${ZIPMPI_WERROR}>:-Werror> -Wshadow
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)

if(ZIPMPI_SANITIZE)
    add_compile_options(-fsanitize=${ZIPMPI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    if(ZIPMPI_SANITIZE MATCHES undefined)
        add_compile_options(-fno-sanitize=vptr) # needs run-time type information, which the layers do not have
    endif()
    add_link_options(-fsanitize=${ZIPMPI_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
        # function: its runtime is for C++ programs only. pointer-overflow: clang reports offsets from null, which MPI
        # addresses are (MPI_BOTTOM, dynamic windows, memory descriptions without the memory).
        add_compile_options(-fno-sanitize=function,pointer-overflow)
        # predefined by g++ only:
        foreach(sanitizer address thread)
            string(TOUPPER ${sanitizer} name)
            if(ZIPMPI_SANITIZE MATCHES ${sanitizer})
                add_compile_definitions(__SANITIZE_${name}__=1)
            endif()
        endforeach()
    endif()
endif()

# Headers of the standard library take a quarter to a third of the compile time of a file (docs/decisions/0038_build_time.md).
#
#   zipmpi_precompile(TARGET GROUP [headers...])
#
# compiles them once for all targets of a group, which must have equal compiler options: the first target creates the
# file, the others use it. self_contained_headers.py and ci/tidy.sh check without it that files include what they use.
function(zipmpi_precompile target group)
    if(NOT ZIPMPI_PRECOMPILE)
        return()
    endif()
    get_property(owner GLOBAL PROPERTY ZIPMPI_PRECOMPILED_${group})
    if(owner)
        target_precompile_headers(${target} REUSE_FROM ${owner})
    else()
        target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <functional> <memory> <mutex>
                                  <optional> <span> <string> <string_view> <thread> <unordered_map> <vector> ${ARGN})
        set_property(GLOBAL PROPERTY ZIPMPI_PRECOMPILED_${group} ${target})
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -fpch-preprocess) # needed by ccache
    elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        # With the time of its header in the precompiled file, ccache finds nothing in a new clone or build folder.
        target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
endfunction()

# Objects of 100 to 200 bytes are initialized and copied on the path of every message. By default GCC does that with the
# string instructions of x86, which take longer to start than a few vector moves.
include(CheckCXXCompilerFlag)
set(ZIPMPI_SMALL_COPIES -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
                        -mmemcpy-strategy=vector_loop:512:noalign,libcall:-1:noalign)
list(JOIN ZIPMPI_SMALL_COPIES " " ZIPMPI_SMALL_COPIES_TEXT)
check_cxx_compiler_flag("${ZIPMPI_SMALL_COPIES_TEXT}" ZIPMPI_HAS_COPY_STRATEGIES)

set(ZIPMPI_HEADER_VIEW ${CMAKE_BINARY_DIR}/header_view)

function(zipmpi_expose_headers target name dir)
    file(MAKE_DIRECTORY ${ZIPMPI_HEADER_VIEW}/${name})
    file(CREATE_LINK ${dir} ${ZIPMPI_HEADER_VIEW}/${name}/${name} SYMBOLIC)
    target_include_directories(${target} PUBLIC ${ZIPMPI_HEADER_VIEW}/${name})
endfunction()

function(zipmpi_layer name)
    cmake_parse_arguments(A "" "" "SOURCES;DEPS;LINK;TESTS" ${ARGN})
    add_library(zipmpi_${name} STATIC ${A_SOURCES})
    zipmpi_expose_headers(zipmpi_${name} ${name} ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_options(zipmpi_${name} PRIVATE -fno-exceptions -fno-rtti)
    if(NOT name STREQUAL "packing")
        # Two fields stored separately and loaded together by a vector instruction stall until the stores are
        # complete, as long as the preceding store to a peer's cache line takes.
        target_compile_options(zipmpi_${name} PRIVATE -fno-tree-slp-vectorize)
        zipmpi_precompile(zipmpi_${name} layers)
    endif()
    if(ZIPMPI_HAS_COPY_STRATEGIES)
        target_compile_options(zipmpi_${name} PRIVATE ${ZIPMPI_SMALL_COPIES})
    endif()
    target_link_libraries(zipmpi_${name} PRIVATE zipmpi_warnings)
    foreach(dep IN LISTS A_DEPS)
        target_link_libraries(zipmpi_${name} PUBLIC zipmpi_${dep})
    endforeach()
    target_link_libraries(zipmpi_${name} PUBLIC ${A_LINK})
    if(ZIPMPI_TESTS AND A_TESTS)
        zipmpi_unit_test(${name}_test SOURCES ${A_TESTS} LINK zipmpi_${name})
    endif()
endfunction()

# Links the C++ runtime statically and hidden into a library that other programs load: the dynamic linker need not load
# and relocate libstdc++, libgcc_s and libm in each rank (docs/decisions/0006), and a program with its own operator new
# or another libstdc++ cannot interfere. Sanitizers need the shared ones.
function(zipmpi_own_cxx_runtime target)
    if(NOT ZIPMPI_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
    endif()
endfunction()

# Run path of installed modules for libraries outside the default folders of the dynamic linker.
get_property(ZIPMPI_MODULE_RPATH GLOBAL PROPERTY ZIPMPI_FOREIGN_FOLDERS)
list(REMOVE_DUPLICATES ZIPMPI_MODULE_RPATH)

# A source file that was left out fails the build of a library, not the first job.
function(zipmpi_require_definitions target)
    if(NOT ZIPMPI_SANITIZE) # symbols of the sanitizers are defined by the executable
        target_link_options(${target} PRIVATE -Wl,-z,defs)
    endif()
endfunction()

# Folders in which the library searches modules, built and installed.
function(zipmpi_place_module target)
    set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/zipmpi
                          INSTALL_RPATH "${ZIPMPI_MODULE_RPATH}")
    zipmpi_require_definitions(${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/zipmpi)
endfunction()

# The tests of this folder so far run alone under `ctest -j`: they start jobs on all CPUs, and check placement or
# times. Those under EXCEPT, and those that match EXCEPT_MATCHING, mostly wait or do not depend on times.
function(zipmpi_tests_run_alone)
    cmake_parse_arguments(A "" "EXCEPT_MATCHING" "EXCEPT" ${ARGN})
    get_property(tests DIRECTORY PROPERTY TESTS)
    if(A_EXCEPT_MATCHING)
        list(FILTER tests EXCLUDE REGEX "${A_EXCEPT_MATCHING}")
    endif()
    foreach(test IN LISTS tests)
        if(NOT test IN_LIST A_EXCEPT)
            set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
        endif()
    endforeach()
endfunction()

# Cases of a Python file of this folder as separate tests, PREFIX.CASE with the label PREFIX.
#
#   zipmpi_python_tests(FILE PREFIX name TIMEOUT seconds [NO_LEAK_CHECKS] [PROPERTIES ...] ENVIRONMENT ... CASES ...)
#
# NO_LEAK_CHECKS: the leak checker stops its process with ptrace, which fails in the namespaces of emulated hosts.
function(zipmpi_python_tests file)
    cmake_parse_arguments(A "NO_LEAK_CHECKS" "PREFIX;TIMEOUT" "PROPERTIES;ENVIRONMENT;CASES" ${ARGN})
    if(A_NO_LEAK_CHECKS AND ZIPMPI_SANITIZE)
        list(PREPEND A_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    endif()
    foreach(case IN LISTS A_CASES)
        add_test(NAME ${A_PREFIX}.${case} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${file}.py ${case})
        set_tests_properties(${A_PREFIX}.${case} PROPERTIES LABELS ${A_PREFIX} TIMEOUT ${A_TIMEOUT} ${A_PROPERTIES}
                             ENVIRONMENT "${A_ENVIRONMENT}")
    endforeach()
endfunction()

# Dependencies of the tests of a label, for builds that run no others: `unit_tests` and `defect_tests` here, `mpi_tests` and
# `mpi_thread_tests` in tests/mpi.
if(ZIPMPI_TESTS)
    add_custom_target(unit_tests)
    add_custom_target(defect_tests)
endif()

# A GoogleTest executable whose cases are separate ctest tests. LABELS: besides `unit`.
function(zipmpi_unit_test name)
    cmake_parse_arguments(A "" "" "SOURCES;LINK;LABELS" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    add_dependencies(unit_tests ${name})
    target_link_libraries(${name} PRIVATE zipmpi_warnings ${A_LINK} GTest::gtest GTest::gtest_main Threads::Threads)
    zipmpi_precompile(${name} unit_tests <gtest/gtest.h>)
    gtest_discover_tests(${name} PROPERTIES LABELS unit TIMEOUT 60)
    if(A_LABELS) # gtest_discover_tests() passes no lists
        set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
        file(WRITE ${labels_file} "foreach(test IN LISTS ${name}_TESTS)
    set_tests_properties(\"\${test}\" PROPERTIES LABELS \"unit;${A_LABELS}\")
endforeach()
")
        set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
    endif()
endfunction()
