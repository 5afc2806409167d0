# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Libraries for programs that were built for another MPI library (docs/decisions/0050_bindings.md). They are in folders of
# their own, which mpiexec puts first in the library path of such a program.
#
#   zipmpi_binding(TARGET BINDING FILE [sources...])
#
# FILE is the soname.
function(zipmpi_binding target binding file)
    zipmpi_abi_library(${target} ${binding} ${ZIPMPI_GEN_DIR}/bindings/${binding} older_functions.cpp special_values.cpp ${ARGN})
    zipmpi_binding_file(${target} ${binding} ${file})
    # A library of another ABI in the same process has functions of the same names.
    target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
endfunction()

# Places a library in the folder of a binding.
function(zipmpi_binding_file target binding file)
    set(folder ${CMAKE_BINARY_DIR}/lib/bindings/${binding})
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${file} SUFFIX "" NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${folder}
                          INSTALL_RPATH $ORIGIN)
    target_link_options(${target} PRIVATE -Wl,-soname,${file})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/zipmpi/${binding})
endfunction()

# Another name of a library in its folder.
function(zipmpi_binding_link binding name file)
    set(folder ${CMAKE_BINARY_DIR}/lib/bindings/${binding})
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${file} ${folder}/${name} SYMBOLIC)
    install(FILES ${folder}/${name} DESTINATION ${CMAKE_INSTALL_LIBDIR}/zipmpi/${binding})
endfunction()

# An empty library, for programs that need it by name. mpiexec adds its folder only on hosts without the real one.
function(zipmpi_binding_companion binding file)
    string(MAKE_C_IDENTIFIER companion_${file} target)
    add_library(${target} SHARED companion.c)
    zipmpi_binding_file(${target} ${binding}/runtime ${file})
endfunction()

zipmpi_binding(binding_openmpi openmpi libmpi.so.40 ${ZIPMPI_GEN_DIR}/bindings/openmpi/abi/objects.cpp openmpi/exports.cpp
               openmpi/handle_integers.cpp)
zipmpi_binding_link(openmpi libmpi.so libmpi.so.40)

# Fortran for programs of Open MPI: the code of fortran/, compiled for its ABI.
set(fortran_sources callbacks convert callback_slots sync_reg older_procedures)
list(TRANSFORM fortran_sources REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/fortran/\\1.cpp")
set(fortran_glue ${ZIPMPI_GENERATED_ENTRIES})
list(TRANSFORM fortran_glue REPLACE "^${ZIPMPI_GEN_DIR}/abi/entries_" "${ZIPMPI_GEN_DIR}/bindings/openmpi/fortran/glue/")
add_library(binding_openmpi_fortran SHARED ${fortran_sources} ${fortran_glue})
add_dependencies(binding_openmpi_fortran zipmpi_generated)
zipmpi_binding_file(binding_openmpi_fortran openmpi libmpi_mpifh.so.40)
set_target_properties(binding_openmpi_fortran PROPERTIES CXX_VISIBILITY_PRESET default
                      LINK_DEPENDS ${ZIPMPI_GEN_DIR}/bindings/openmpi/fortran/exports.map)
target_include_directories(binding_openmpi_fortran PRIVATE ${ZIPMPI_HEADER_VIEW}/fortran ${ZIPMPI_GEN_DIR}/bindings/openmpi)
target_compile_options(binding_openmpi_fortran PRIVATE -fno-exceptions -fno-rtti)
target_link_libraries(binding_openmpi_fortran PRIVATE binding_openmpi zipmpi_warnings)
target_link_options(binding_openmpi_fortran PRIVATE
                    -Wl,--version-script=${ZIPMPI_GEN_DIR}/bindings/openmpi/fortran/exports.map)
zipmpi_own_cxx_runtime(binding_openmpi_fortran)
# The C++ interface: only what programs that include its header need, and objects that Debian's programs use.
add_library(binding_openmpi_cxx SHARED openmpi/cxx/intercepts.cpp openmpi/cxx/objects.cpp)
add_dependencies(binding_openmpi_cxx zipmpi_generated)
zipmpi_binding_file(binding_openmpi_cxx openmpi libmpi_cxx.so.40)
target_include_directories(binding_openmpi_cxx PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${ZIPMPI_GEN_DIR}/bindings/openmpi)
target_compile_options(binding_openmpi_cxx PRIVATE -fno-exceptions -fno-rtti)
target_link_libraries(binding_openmpi_cxx PRIVATE binding_openmpi zipmpi_warnings)
target_link_options(binding_openmpi_cxx PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/openmpi/cxx/exports.map)
set_target_properties(binding_openmpi_cxx PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/openmpi/cxx/exports.map)
zipmpi_own_cxx_runtime(binding_openmpi_cxx)

zipmpi_binding_companion(openmpi libopen-rte.so.40)
zipmpi_binding_companion(openmpi libopen-pal.so.40)

zipmpi_binding(binding_mpich mpich libmpich.so.12 mpich/exports.cpp mpich/handle_table.cpp
               mpich/language_hooks.cpp)
zipmpi_binding_link(mpich libmpi.so.12 libmpich.so.12)
