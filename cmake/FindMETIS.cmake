# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# METIS::METIS; METIS has no package file for CMake or pkg-config.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
if(METIS_INCLUDE_DIR)
    include(ZipmpiHeaderVersion)
    zipmpi_header_version(METIS_VERSION ${METIS_INCLUDE_DIR}/metis.h METIS_VER_MAJOR METIS_VER_MINOR METIS_VER_SUBMINOR)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR VERSION_VAR METIS_VERSION)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
if(METIS_FOUND AND NOT TARGET METIS::METIS)
    add_library(METIS::METIS UNKNOWN IMPORTED)
    set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
endif()
