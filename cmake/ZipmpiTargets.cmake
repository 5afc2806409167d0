# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# How targets are made here.
#
#   zipmpi_layer(NAME DIR SOURCES... [DEPS layers...] [LINK libraries...] [TESTS files...])
#
# makes the static library zipmpi_NAME out of one folder of src/. Its headers are reached as "NAME/x.hpp",
# through an include directory that holds this folder only: a file that includes a layer which its own target
# does not link fails to compile. Unit tests listed under TESTS become the executable NAME_test.

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
        # function: its run time is in programs of C++ only. pointer-overflow: with clang it forbids offsets from null, but
        # that is what addresses are in MPI (MPI_BOTTOM, dynamic windows, descriptions of memory without the memory).
        add_compile_options(-fno-sanitize=function,pointer-overflow)
        # What g++ defines by itself:
        foreach(sanitizer address thread)
            string(TOUPPER ${sanitizer} name)
            if(ZIPMPI_SANITIZE MATCHES ${sanitizer})
                add_compile_definitions(__SANITIZE_${name}__=1)
            endif()
        endforeach()
    endif()
endif()

# A quarter to a third of the time to compile a file goes into headers of the standard library (docs/decisions/0038_build_time.md).
#
#   zipmpi_precompile(TARGET GROUP [headers...])
#
# compiles them once for all targets of a group, whose options of the compiler must be the same: the first target makes
# the file, the others use it. That files name what they use is checked without it (headers_alone.py, ci/tidy.sh).
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
        target_compile_options(${target} PRIVATE -fpch-preprocess) # what ccache needs
    endif()
endfunction()

# Objects of one or two hundred bytes are set up and copied on the path of every message. By default GCC does that with the
# string instructions of x86, whose start takes longer than a few vector moves.
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
    if(NOT name STREQUAL "layout")
        # Two fields written one by one and read together by a vector instruction wait until the stores are carried out,
        # which takes as long as the one to a peer's cache line before them.
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

# Puts what is used of the C++ runtime into a library that other people's programs load, hidden: the dynamic linker need
# not find and relocate libstdc++, libgcc_s and libm in each rank (docs/decisions/0006), and a program that brings its own
# operator new or another libstdc++ cannot get in the way. Sanitizers need the shared ones.
function(zipmpi_own_cxx_runtime target)
    if(NOT ZIPMPI_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
    endif()
endfunction()

# Where installed modules look for libraries that the dynamic linker does not find by itself.
get_property(ZIPMPI_MODULE_RPATH GLOBAL PROPERTY ZIPMPI_FOREIGN_FOLDERS)
list(REMOVE_DUPLICATES ZIPMPI_MODULE_RPATH)

# Where the library looks for modules, built and installed.
function(zipmpi_place_module target)
    set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/zipmpi
                          INSTALL_RPATH "${ZIPMPI_MODULE_RPATH}")
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/zipmpi)
endfunction()

# The tests of this folder so far run with nothing beside them under `ctest -j`: they start jobs on all CPUs, and look at
# where ranks sit or how long something takes. Those under EXCEPT mostly wait.
function(zipmpi_tests_run_alone)
    cmake_parse_arguments(A "" "" "EXCEPT" ${ARGN})
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(test IN LISTS tests)
        if(NOT test IN_LIST A_EXCEPT)
            set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
        endif()
    endforeach()
endfunction()

# What the tests of a label need, for builds that run no others: `unit_tests` here, `mpi_tests` in tests/mpi.
if(ZIPMPI_TESTS)
    add_custom_target(unit_tests)
endif()

# A GoogleTest executable whose cases appear in ctest one by one.
function(zipmpi_unit_test name)
    cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    add_dependencies(unit_tests ${name})
    target_link_libraries(${name} PRIVATE zipmpi_warnings ${A_LINK} GTest::gtest GTest::gtest_main Threads::Threads)
    zipmpi_precompile(${name} unit_tests <gtest/gtest.h>)
    gtest_discover_tests(${name} PROPERTIES LABELS unit TIMEOUT 60)
endfunction()
