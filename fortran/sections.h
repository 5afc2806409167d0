/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers of mpi_f08. They come by descriptor: a contiguous one is passed on by its address, without any cost. One with gaps
 * is described by a datatype, or copied if that cannot be and the call has done its work when it returns.
 *
 * This is compiled with the ISO_Fortran_binding.h of the Fortran compiler, whose descriptors these are, by whoever has
 * that compiler; so it is C, and needs nothing but mpi.h. Called by the generated f08_buffers.c.
 */
#ifndef ZIPMPI_FORTRAN_SECTIONS_H
#define ZIPMPI_FORTRAN_SECTIONS_H

#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdbool.h>

/* What may be done with a buffer that has gaps. */
enum zipmpi_use {
    zipmpi_exact,   /* the whole message is in it: any datatype will do */
    zipmpi_strided, /* it has several messages: the datatype of one element may get a larger extent */
    zipmpi_whole,   /* the datatype must stay */
    zipmpi_address  /* only where it begins matters */
};

struct zipmpi_buffer {
    enum zipmpi_use use;
    bool written;  /* by MPI */
    bool may_copy; /* nothing is read or written after the call */
};

struct zipmpi_section {
    void *address;
    MPI_Count large_count;
    int count;
    int type; /* of Fortran */
    bool has_count, has_type;
    MPI_Datatype made;
    void *copy;
    bool write_back;
};

bool zipmpi_has_gaps(const CFI_cdesc_t *buffer);
/* count and type as the call has them, null pointers if it has none. Returns an error code. */
int zipmpi_section_open(struct zipmpi_section *section, const CFI_cdesc_t *buffer, struct zipmpi_buffer how,
                        const MPI_Count *count, const int *type);
void zipmpi_section_close(struct zipmpi_section *section, const CFI_cdesc_t *buffer);
/* The program's error handler, then the code. */
void zipmpi_section_failed(int err, int *ierror);

#endif
