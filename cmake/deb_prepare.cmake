# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Run by CPack before it packs.

# Links in /usr/bin under names that no other MPI package has.
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(own_bin usr/lib/zipmpi/bin)
file(MAKE_DIRECTORY ${root}/usr/bin)
foreach(program mpicc mpicxx mpifort mpiexec mpirun)
    if(EXISTS ${root}/${own_bin}/${program})
        file(CREATE_LINK ../lib/zipmpi/bin/${program} ${root}/usr/bin/${program}.zipmpi SYMBOLIC)
    endif()
endforeach()
file(CREATE_LINK ../lib/zipmpi/bin/zipmpi ${root}/usr/bin/zipmpi SYMBOLIC)

# Dependencies of programs and library. Not of the modules in lib/zipmpi: what they need is loaded on need only, so
# it is recommended and not demanded; CPack's own use of dpkg-shlibdeps cannot leave them out.
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
