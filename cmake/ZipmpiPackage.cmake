# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installed files. Library and header (src/abi), launcher (launch), modules (src/boot, launch),
# wrappers and pkg-config file (tools/wrappers) have their own install rules.
# Packages are made from the installation: debian/ and packaging/.

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
foreach(target mpi_abi mpiexec zipmpi zipmpi-noded zipmpi-gateway mpi_abi_static mpifort_abi mpifort_abi_static zipmpi_fortran_modules zipmpi_ucx zipmpi_ofi zipmpi_pmix_client zipmpi_pmix_server
        zipmpi_topology zipmpi_graphs zipmpi_trace_standard zipmpi_trace_openmpi zipmpi_trace_mpich zipmpi_otf2 zipmpi_msgq)
    if(TARGET ${target})
        add_dependencies(zipmpi_product ${target})
    endif()
endforeach()

if(ZIPMPI_TESTS)
    add_subdirectory(cmake/checks)
endif()
