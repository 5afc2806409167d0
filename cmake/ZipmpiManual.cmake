# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Manual pages: functions from spec/, mpiexec from its table of options, other programs from their --help output, and
# parameters.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set(ZIPMPI_MANUAL_DIR ${CMAKE_BINARY_DIR}/man)
file(GLOB manual_inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/spec/*.t* ${PROJECT_SOURCE_DIR}/spec/functions/*.toml
     ${PROJECT_SOURCE_DIR}/spec/abi/* ${PROJECT_SOURCE_DIR}/gen/zipmpi_gen/*.py
     ${PROJECT_SOURCE_DIR}/launch/mpiexec/options.toml)
add_custom_command(
    OUTPUT ${ZIPMPI_MANUAL_DIR}/stamp
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/gen PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE}
            -m zipmpi_gen.manual ${PROJECT_SOURCE_DIR}/spec ${ZIPMPI_MANUAL_DIR} ${PROJECT_VERSION} ${CMAKE_BINARY_DIR}/bin
    COMMAND ${CMAKE_COMMAND} -E touch ${ZIPMPI_MANUAL_DIR}/stamp
    DEPENDS ${manual_inputs} zipmpi mpiexec
    COMMENT "Writing manual pages" VERBATIM)
add_custom_target(zipmpi_manual ALL DEPENDS ${ZIPMPI_MANUAL_DIR}/stamp)
install(DIRECTORY ${ZIPMPI_MANUAL_DIR}/man1 ${ZIPMPI_MANUAL_DIR}/man3 ${ZIPMPI_MANUAL_DIR}/man7
        DESTINATION ${CMAKE_INSTALL_MANDIR})
