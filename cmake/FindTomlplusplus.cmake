# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Tomlplusplus::Tomlplusplus by its package file for CMake or pkg-config. Always header-only: mpiexec must not need an additional
# library on the hosts it is copied to.
find_package(tomlplusplus CONFIG QUIET)
if(TARGET tomlplusplus::tomlplusplus)
    set(Tomlplusplus_VERSION ${tomlplusplus_VERSION})
    get_target_property(Tomlplusplus_DIR tomlplusplus::tomlplusplus INTERFACE_INCLUDE_DIRECTORIES)
else()
    pkg_check_modules(TOMLPLUSPLUS QUIET tomlplusplus)
    set(Tomlplusplus_VERSION ${TOMLPLUSPLUS_VERSION})
    set(Tomlplusplus_DIR ${TOMLPLUSPLUS_INCLUDEDIR})
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Tomlplusplus REQUIRED_VARS Tomlplusplus_DIR VERSION_VAR Tomlplusplus_VERSION)
if(Tomlplusplus_FOUND AND NOT TARGET Tomlplusplus::Tomlplusplus)
    add_library(Tomlplusplus::Tomlplusplus INTERFACE IMPORTED)
    target_include_directories(Tomlplusplus::Tomlplusplus SYSTEM INTERFACE ${Tomlplusplus_DIR})
endif()
