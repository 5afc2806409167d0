# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause

# zipmpi_header_version(RESULT HEADER MACRO...): sets RESULT to the version whose parts HEADER defines as MACROs, "5.1.0".
function(zipmpi_header_version result header)
    set(parts "")
    foreach(macro ${ARGN})
        file(STRINGS ${header} line REGEX "^#define ${macro} +[0-9]+")
        string(REGEX MATCH "[0-9]+$" number "${line}")
        if(NOT number STREQUAL "")
            list(APPEND parts ${number})
        endif()
    endforeach()
    string(REPLACE ";" "." parts "${parts}")
    set(${result} "${parts}" PARENT_SCOPE)
endfunction()
