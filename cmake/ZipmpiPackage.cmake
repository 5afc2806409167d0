# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installed files and the Debian package. Library and header (src/abi), launcher (launch), modules (src/boot, launch),
# wrappers and pkg-config file (tools/wrappers) have their own install rules.
# docs/decisions/0005_packaging_prefix.md explains the separate prefix of the package.

# The build tree looks like an installation, so that wrappers and tests find things in bin/ and lib/.
set_target_properties(zipmpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set_target_properties(mpi_abi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
install(TARGETS zipmpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md TYPE DOC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/guide TYPE DOC)
# `zipmpi bench`
install(PROGRAMS ${CMAKE_SOURCE_DIR}/bench/compare DESTINATION ${CMAKE_INSTALL_DATADIR}/zipmpi/bench)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bench/harness ${CMAKE_SOURCE_DIR}/bench/programs ${CMAKE_SOURCE_DIR}/bench/baseline
                  ${CMAKE_SOURCE_DIR}/bench/startup ${CMAKE_SOURCE_DIR}/bench/applications
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zipmpi/bench
        USE_SOURCE_PERMISSIONS PATTERN tests EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)

# The PyTorch backend, as sources: the binary interface of PyTorch differs between its versions.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/torch/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zipmpi/torch
        USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)

# The product without tests and manual.
add_custom_target(zipmpi_product)
foreach(target mpi_abi mpiexec zipmpi zipmpi-noded zipmpi-gateway mpi_abi_static mpifort_abi mpifort_abi_static zipmpi_fortran_modules zipmpi_ucx zipmpi_pmix_client zipmpi_pmix_server
        zipmpi_topology zipmpi_graphs zipmpi_trace_standard zipmpi_trace_openmpi zipmpi_trace_mpich)
    if(TARGET ${target})
        add_dependencies(zipmpi_product ${target})
    endif()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zipmpi)
set(CPACK_PACKAGE_VENDOR "the ZipMPI authors")
# As with dch and debuild, the person who builds a package is its maintainer. The fallback address uses a reserved domain.
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
    set(contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
    set(contact "ZipMPI developers <developers@zipmpi.invalid>")
endif()
set(ZIPMPI_PACKAGE_CONTACT "${contact}" CACHE STRING "Maintainer of the Debian package: Name <address>")
set(CPACK_PACKAGE_CONTACT "${ZIPMPI_PACKAGE_CONTACT}")
set(CPACK_ZIPMPI_DEBIAN_DIR ${CMAKE_CURRENT_LIST_DIR}/debian) # for deb_prepare.cmake
set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/zipmpi)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb_prepare.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "libpmix2, libhwloc15, libucx0, libssl3, libscotch-7.0, libmetis5, python3, gcc | c-compiler, g++ | c++-compiler, libc6-dev, gfortran | fortran-compiler")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "MPI library with its launcher and compiler wrappers")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "ZipMPI implements the Message Passing Interface with the standard binary\n\
interface of MPI 5.0. Programs start under its own mpiexec, Slurm, Open MPI's\n\
mpirun and MPICH's hydra. It lies beside other MPI packages: its commands are\n\
in /usr/lib/zipmpi/bin, and in /usr/bin with the suffix .zipmpi.")
include(CPack)

if(ZIPMPI_TESTS)
    add_subdirectory(cmake/checks)
endif()
