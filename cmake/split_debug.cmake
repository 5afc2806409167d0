# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Run by `cmake --install` after all files are installed: moves debug information of programs and libraries into
# .debug/NAME.debug next to them, where gdb finds it. With --strip, and in packages, CMake has removed it already.
if(CMAKE_INSTALL_DO_STRIP)
    return()
endif()
set(debug_files "")
foreach(name IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    set(file "$ENV{DESTDIR}${name}")
    if(IS_SYMLINK "${file}" OR IS_DIRECTORY "${file}" OR name MATCHES "\\.debug$")
        continue()
    endif()
    file(READ "${file}" magic LIMIT 4 HEX)
    if(NOT magic STREQUAL "7f454c46")
        continue()
    endif()
    execute_process(COMMAND "${ZIPMPI_READELF}" -SW "${file}" OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
    if(NOT sections MATCHES "\\.debug_info") # already split
        continue()
    endif()
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET file FILENAME base)
    file(MAKE_DIRECTORY "${folder}/.debug")
    set(debug "${folder}/.debug/${base}.debug")
    execute_process(COMMAND "${ZIPMPI_OBJCOPY}" --only-keep-debug --compress-debug-sections "${file}" "${debug}" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${ZIPMPI_OBJCOPY}" -p --strip-unneeded "--add-gnu-debuglink=${debug}" "${file}" COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD "${debug}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    cmake_path(GET name PARENT_PATH installed)
    list(APPEND debug_files "${installed}/.debug/${base}.debug")
endforeach()
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${debug_files})
