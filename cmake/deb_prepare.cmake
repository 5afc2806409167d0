# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Run by CPack before it creates the package.

# Links in /usr/bin with names that no other MPI package uses.
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(own_bin usr/lib/zipmpi/bin)
file(MAKE_DIRECTORY ${root}/usr/bin)
foreach(program mpicc mpicxx mpifort mpiexec mpirun)
    if(EXISTS ${root}/${own_bin}/${program})
        file(CREATE_LINK ../lib/zipmpi/bin/${program} ${root}/usr/bin/${program}.zipmpi SYMBOLIC)
    endif()
endforeach()
file(CREATE_LINK ../lib/zipmpi/bin/zipmpi ${root}/usr/bin/zipmpi SYMBOLIC)

# Their manual pages.
set(pages ${root}/usr/lib/zipmpi/share/man/man1)
file(MAKE_DIRECTORY ${root}/usr/share/man/man1)
foreach(program mpicc mpicxx mpifort mpiexec mpirun zipmpi)
    set(name ${program}.zipmpi)
    if(program STREQUAL "zipmpi")
        set(name zipmpi)
    endif()
    if(EXISTS ${pages}/${program}.1)
        file(READ ${pages}/${program}.1 page)
        set(source ${program}.1)
        if(page MATCHES "^\\.so man1/([a-z]+\\.1)")
            set(source ${CMAKE_MATCH_1})
        endif()
        execute_process(COMMAND gzip -9nc ${pages}/${source} OUTPUT_FILE ${root}/usr/share/man/man1/${name}.1.gz
                        COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()

# Files that Debian's policy requires.
set(doc ${root}/usr/share/doc/zipmpi)
file(MAKE_DIRECTORY ${doc} ${root}/usr/share/lintian/overrides)
file(COPY ${CPACK_ZIPMPI_DEBIAN_DIR}/copyright DESTINATION ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC) # uses SOURCE_DATE_EPOCH if set
file(WRITE ${doc}/changelog "zipmpi (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
     "  * Built from source; the history is in the repository.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
execute_process(COMMAND gzip -9n ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${CPACK_ZIPMPI_DEBIAN_DIR}/lintian-overrides ${root}/usr/share/lintian/overrides/zipmpi)
file(GLOB archives ${root}/usr/lib/zipmpi/lib/*.a ${root}/usr/lib/zipmpi/lib/zipmpi/fortran/*.a)
foreach(archive IN LISTS archives)
    execute_process(COMMAND strip --strip-debug --remove-section=.comment --enable-deterministic-archives ${archive}
                    COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Dependencies of programs and library, without those of the modules in lib/zipmpi: modules are loaded on demand, so their
# libraries are only recommended. CPack's call of dpkg-shlibdeps cannot exclude them.
set(work ${root}/../shlibdeps)
file(MAKE_DIRECTORY ${work}/debian)
file(WRITE ${work}/debian/control "Source: zipmpi\n\nPackage: zipmpi\nArchitecture: any\n")
set(binaries "")
foreach(name bin/mpiexec bin/zipmpi lib/libmpi_abi.so.1 lib/libmpifort_abi.so.1)
    if(EXISTS ${root}/usr/lib/zipmpi/${name})
        list(APPEND binaries ${root}/usr/lib/zipmpi/${name})
    endif()
endforeach()
execute_process(COMMAND dpkg-shlibdeps -O --ignore-missing-info -l${root}/usr/lib/zipmpi/lib ${binaries}
                WORKING_DIRECTORY ${work} OUTPUT_VARIABLE answer ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^shlibs:Depends=([^\n]*).*" "\\1" CPACK_DEBIAN_PACKAGE_DEPENDS "${answer}")
file(REMOVE_RECURSE ${work})
