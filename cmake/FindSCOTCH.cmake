# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# SCOTCH::SCOTCH, for versions without a package file for CMake (before 7.0.4).
find_package(SCOTCH CONFIG QUIET)
if(TARGET SCOTCH::scotch)
    add_library(SCOTCH::SCOTCH INTERFACE IMPORTED)
    target_link_libraries(SCOTCH::SCOTCH INTERFACE SCOTCH::scotch SCOTCH::scotcherr)
    set(SCOTCH_LIBRARY ${SCOTCH_DIR})
    return()
endif()
find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch)
find_library(SCOTCH_LIBRARY scotch)
find_library(SCOTCH_ERROR_LIBRARY scotcherr)
if(SCOTCH_INCLUDE_DIR)
    include(ZipmpiHeaderVersion)
    zipmpi_header_version(SCOTCH_VERSION ${SCOTCH_INCLUDE_DIR}/scotch.h SCOTCH_VERSION SCOTCH_RELEASE SCOTCH_PATCHLEVEL)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SCOTCH REQUIRED_VARS SCOTCH_LIBRARY SCOTCH_ERROR_LIBRARY SCOTCH_INCLUDE_DIR
                                  VERSION_VAR SCOTCH_VERSION)
mark_as_advanced(SCOTCH_INCLUDE_DIR SCOTCH_LIBRARY SCOTCH_ERROR_LIBRARY)
if(SCOTCH_FOUND AND NOT TARGET SCOTCH::SCOTCH)
    add_library(SCOTCH::SCOTCH UNKNOWN IMPORTED)
    set_target_properties(SCOTCH::SCOTCH PROPERTIES IMPORTED_LOCATION ${SCOTCH_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${SCOTCH_INCLUDE_DIR}
                          INTERFACE_LINK_LIBRARIES ${SCOTCH_ERROR_LIBRARY})
endif()
