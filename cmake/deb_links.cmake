# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Run by CPack before it packs: links in /usr/bin under names that no other MPI package has.
set(user_bin ${CPACK_TEMPORARY_DIRECTORY}/usr/bin)
set(own_bin ../lib/zipmpi/bin)
file(MAKE_DIRECTORY ${user_bin})
foreach(program mpicc mpicxx mpiexec mpirun)
    if(EXISTS ${CPACK_TEMPORARY_DIRECTORY}/usr/lib/zipmpi/bin/${program})
        file(CREATE_LINK ${own_bin}/${program} ${user_bin}/${program}.zipmpi SYMBOLIC)
    endif()
endforeach()
file(CREATE_LINK ${own_bin}/zipmpi ${user_bin}/zipmpi SYMBOLIC)
