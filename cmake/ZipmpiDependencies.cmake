# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Finds all dependencies. A missing required one stops the configuration with its name. Optional ones are chosen by
# ZIPMPI_WITH_NAME: ON requires it, OFF ignores it, AUTO uses it if found. A found dependency has a target:
# `if(TARGET zipmpi::ucx)`. zipmpi_print_summary() prints at the end what was found and its purpose.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

function(zipmpi_add_to_summary name state version where use)
    string(LENGTH "${name}" length)
    math(EXPR blanks "14 - ${length}")
    string(REPEAT " " ${blanks} blanks)
    string(REPLACE ";" " " where "${where}")
    set(line "  ${name}${blanks}${state}")
    if(version)
        string(APPEND line ", ${version}")
    endif()
    if(where)
        string(APPEND line ", ${where}")
    endif()
    set_property(GLOBAL APPEND PROPERTY ZIPMPI_SUMMARY "${line}: ${use}")
endfunction()

function(zipmpi_print_summary)
    get_property(lines GLOBAL PROPERTY ZIPMPI_SUMMARY)
    list(JOIN lines "\n" lines)
    message(STATUS "ZipMPI ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE} by ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, "
                   "tests ${ZIPMPI_TESTS}, warnings are errors ${ZIPMPI_WERROR}\n${lines}\n"
                   "  (-DZIPMPI_WITH_NAME=ON or OFF selects optional parts)")
endfunction()

# zipmpi_need(PACKAGE DEBIAN USE)
macro(zipmpi_need package debian use)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR "${package} was not found. It is needed for ${use}.\n"
                "Install it (Debian: ${debian}), or add its prefix to CMAKE_PREFIX_PATH.")
    endif()
    zipmpi_add_to_summary(${package} yes "${${package}_VERSION}" "${${package}_DIR}" "${use}")
endmacro()
zipmpi_need(CLI11 libcli11-dev "command lines")
zipmpi_need(fmt libfmt-dev "the command zipmpi")
zipmpi_need(nlohmann_json nlohmann-json3-dev "the command zipmpi")
zipmpi_need(Tomlplusplus libtomlplusplus-dev "mpiexec --clusters")
if(ZIPMPI_TESTS)
    zipmpi_need(GTest libgtest-dev "the tests (-DZIPMPI_TESTS=OFF leaves them out)")
endif()

# zipmpi_read_choice(NAME RESULT): declares ZIPMPI_WITH_NAME and puts ON, OFF or AUTO into RESULT.
function(zipmpi_read_choice name result)
    set(ZIPMPI_WITH_${name} AUTO CACHE STRING "Build with ${name}: ON, OFF, or AUTO to use it if found")
    set_property(CACHE ZIPMPI_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
    string(TOUPPER "${ZIPMPI_WITH_${name}}" choice)
    if(NOT choice MATCHES "^(ON|OFF|AUTO)$")
        message(FATAL_ERROR "ZIPMPI_WITH_${name}=${ZIPMPI_WITH_${name}} is not known: write ON, OFF or AUTO.")
    endif()
    set(${result} ${choice} PARENT_SCOPE)
endfunction()

# zipmpi_settle(NAME CHOICE FOUND VERSION WHERE DEBIAN USE): evaluates the search for an optional dependency.
function(zipmpi_settle name choice found version where debian use)
    if(choice STREQUAL "OFF")
        zipmpi_add_to_summary(${name} off "" "" "no ${use}")
    elseif(found)
        zipmpi_add_to_summary(${name} yes "${version}" "${where}" "${use}")
    elseif(choice STREQUAL "ON")
        message(FATAL_ERROR "ZIPMPI_WITH_${name} is ON, but ${name} was not found. It is for ${use}.\n"
                "Install it (Debian: ${debian}), or add its prefix to PKG_CONFIG_PATH or CMAKE_PREFIX_PATH, or leave it out: "
                "-DZIPMPI_WITH_${name}=OFF.")
    else()
        zipmpi_add_to_summary(${name} "not found" "" "Debian: ${debian}" "no ${use}")
    endif()
endfunction()

# zipmpi_may_use(NAME DEBIAN packages USE text [PKGCONFIG modules... | PACKAGE name] [ALSO package target]): creates
# zipmpi::name if NAME is wanted and found.
function(zipmpi_may_use name)
    cmake_parse_arguments(A "" "DEBIAN;USE;PACKAGE" "PKGCONFIG;ALSO" ${ARGN})
    zipmpi_read_choice(${name} choice)
    set(found FALSE)
    if(A_PKGCONFIG AND NOT choice STREQUAL "OFF")
        pkg_check_modules(ZIPMPI_${name} QUIET IMPORTED_TARGET ${A_PKGCONFIG})
        set(found ${ZIPMPI_${name}_FOUND})
        set(targets PkgConfig::ZIPMPI_${name})
        if(found) # some have -Wl,-rpath of a default folder, which a package must not have
            set_property(TARGET ${targets} PROPERTY INTERFACE_LINK_OPTIONS "")
            set(folders ${ZIPMPI_${name}_LIBRARY_DIRS})
            list(FILTER folders EXCLUDE REGEX "^/(usr/)?lib")
            set_property(GLOBAL APPEND PROPERTY ZIPMPI_FOREIGN_FOLDERS ${folders})
        endif()
        list(GET A_PKGCONFIG 0 first)
        set(version "${ZIPMPI_${name}_VERSION}${ZIPMPI_${name}_${first}_VERSION}") # of one module or of several
        set(where ${ZIPMPI_${name}_LIBDIR}${ZIPMPI_${name}_${first}_LIBDIR})
    elseif(NOT choice STREQUAL "OFF")
        find_package(${A_PACKAGE} QUIET)
        set(found ${${A_PACKAGE}_FOUND})
        set(targets ${A_PACKAGE}::${A_PACKAGE})
        set(version "${${A_PACKAGE}_VERSION}")
        set(where ${${A_PACKAGE}_LIBRARY})
    endif()
    if(found AND A_ALSO)
        list(GET A_ALSO 0 package)
        list(GET A_ALSO 1 target)
        find_package(${package} QUIET)
        set(found ${${package}_FOUND})
        list(APPEND targets ${target})
        string(TOUPPER ${package} upper) # old CMake modules name the version so
        string(APPEND version " with ${package} ${${package}_VERSION}${${upper}_VERSION}")
    endif()
    zipmpi_settle(${name} ${choice} "${found}" "${version}" "${where}" "${A_DEBIAN}" "${A_USE}")
    if(found)
        string(TOLOWER ${name} lower)
        add_library(zipmpi_with_${lower} INTERFACE)
        target_link_libraries(zipmpi_with_${lower} INTERFACE ${targets})
        add_library(zipmpi::${lower} ALIAS zipmpi_with_${lower})
    endif()
endfunction()

zipmpi_may_use(UCX PKGCONFIG ucx ucx-uct ucx-ucs ALSO OpenSSL OpenSSL::Crypto DEBIAN "libucx-dev libssl-dev"
               USE "jobs on several hosts")
zipmpi_may_use(PMIX PKGCONFIG pmix DEBIAN libpmix-dev USE "starting under PMIx launchers (srun --mpi=pmix, mpirun of Open MPI)")
zipmpi_may_use(HWLOC PKGCONFIG hwloc DEBIAN libhwloc-dev USE "binding and paths by caches and sockets")
zipmpi_may_use(SCOTCH PACKAGE SCOTCH DEBIAN libscotch-dev USE "better placement by communication (--map-by comm)")
zipmpi_may_use(METIS PACKAGE METIS DEBIAN libmetis-dev USE "better placement of hosts in two networks (--map-by comm)")

# Fortran: the library is written in C++; the compiler builds the modules, otherwise mpifort builds them when first used.
zipmpi_read_choice(FORTRAN fortran_choice)
set(ZIPMPI_FORTRAN_COMPILER "")
if(NOT fortran_choice STREQUAL "OFF")
    include(CheckLanguage)
    check_language(Fortran)
    if(CMAKE_Fortran_COMPILER)
        set(ZIPMPI_FORTRAN_COMPILER ${CMAKE_Fortran_COMPILER})
        set(fortran_found TRUE)
    endif()
    add_library(zipmpi::fortran INTERFACE IMPORTED)
endif()
if(fortran_choice STREQUAL "AUTO" AND NOT fortran_found)
    zipmpi_add_to_summary(FORTRAN "no compiler" "" "Debian: gfortran" "mpifort builds its modules when it is first used")
else()
    zipmpi_settle(FORTRAN ${fortran_choice} "${fortran_found}" "" "${ZIPMPI_FORTRAN_COMPILER}" gfortran "mpifort and its modules")
endif()
