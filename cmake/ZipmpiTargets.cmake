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

find_package(Threads REQUIRED)

add_library(zipmpi_warnings INTERFACE)
target_compile_options(zipmpi_warnings INTERFACE -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor)

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

# For builds that only test: most of the time to compile one file goes into headers of the standard library.
function(zipmpi_precompile target)
    if(ZIPMPI_PRECOMPILE)
        target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <functional> <memory> <mutex>
                                  <optional> <span> <string> <string_view> <thread> <unordered_map> <vector> ${ARGN})
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            target_compile_options(${target} PRIVATE -fpch-preprocess) # what ccache needs
        endif()
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
    endif()
    if(ZIPMPI_HAS_COPY_STRATEGIES)
        target_compile_options(zipmpi_${name} PRIVATE ${ZIPMPI_SMALL_COPIES})
    endif()
    target_link_libraries(zipmpi_${name} PRIVATE zipmpi_warnings)
    list(LENGTH A_SOURCES files)
    if(files GREATER 4)
        zipmpi_precompile(zipmpi_${name})
    endif()
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

# Where the library looks for modules, built and installed.
function(zipmpi_place_module target)
    set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/zipmpi)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/zipmpi)
endfunction()

# A GoogleTest executable whose cases appear in ctest one by one.
function(zipmpi_unit_test name)
    cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    target_link_libraries(${name} PRIVATE zipmpi_warnings ${A_LINK} GTest::gtest GTest::gtest_main Threads::Threads)
    list(LENGTH A_SOURCES files)
    if(files GREATER 2)
        zipmpi_precompile(${name} <gtest/gtest.h>)
    endif()
    gtest_discover_tests(${name} PROPERTIES LABELS unit TIMEOUT 60)
endfunction()
