/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers of mpi_f08, passed by descriptor. A contiguous one is passed on by its address at no cost. A noncontiguous
 * one is described by a datatype, or copied if no datatype fits and the call is complete when it returns.
 *
 * Compiled with the ISO_Fortran_binding.h of each Fortran compiler, which defines the descriptors, so it is C and needs
 * only mpi.h. Called by the generated f08_buffers.c.
 */
#ifndef ZIPMPI_FORTRAN_SECTIONS_H
#define ZIPMPI_FORTRAN_SECTIONS_H

#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdbool.h>

/* Treatment of a noncontiguous buffer. */
enum zipmpi_use {
    zipmpi_exact,   /* holds one whole message: any equivalent datatype is valid */
    zipmpi_strided, /* holds several messages: the extent of the element type may be enlarged */
    zipmpi_whole,   /* the datatype must not change */
    zipmpi_address  /* only the address is used */
};

struct zipmpi_buffer {
    enum zipmpi_use use;
    bool written;  /* by MPI */
    bool may_copy; /* not accessed after the call */
};

struct zipmpi_section {
    void *address;
    MPI_Count large_count;
    int count;
    int type; /* Fortran handle */
    bool has_count, has_type;
    MPI_Datatype made;
    void *copy;
    bool write_back;
};

bool zipmpi_is_noncontiguous(const CFI_cdesc_t *buffer);
/* count and type are the arguments of the call, null if it has none. Returns an error code. */
int zipmpi_section_open(struct zipmpi_section *section, const CFI_cdesc_t *buffer, struct zipmpi_buffer how,
                        const MPI_Count *count, const int *type);
void zipmpi_section_close(struct zipmpi_section *section, const CFI_cdesc_t *buffer);
/* Calls the error handler and stores the code. */
void zipmpi_section_failed(int err, int *ierror);

#endif
