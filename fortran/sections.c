/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sections.h"

#include <stdlib.h>
#include <string.h>

bool zipmpi_is_noncontiguous(const CFI_cdesc_t* buffer) {
    CFI_index_t expected = (CFI_index_t)buffer->elem_len;
    bool holes = false;
    for (int i = 0; i < buffer->rank; i++) {
        const CFI_dim_t* dimension = &buffer->dim[i];
        if (dimension->extent == 0) return false;
        if (dimension->extent != 1 && dimension->sm != expected) holes = true;
        expected *= dimension->extent;
    }
    return holes && buffer->elem_len != 0;
}

static size_t element_count(const CFI_cdesc_t* buffer) {
    size_t n = 1;
    for (int i = 0; i < buffer->rank; i++) n *= (size_t)buffer->dim[i].extent;
    return n;
}

/* True if the elements have a constant stride. */
static bool is_strided(const CFI_cdesc_t* buffer) {
    CFI_index_t expected = 0;
    for (int i = 0; i < buffer->rank; i++) {
        const CFI_dim_t* dimension = &buffer->dim[i];
        if (dimension->extent == 1) continue;
        if (expected != 0 && dimension->sm != expected) return false;
        expected = dimension->sm * dimension->extent;
    }
    return true;
}

static CFI_index_t first_stride(const CFI_cdesc_t* buffer) {
    for (int i = 0; i < buffer->rank; i++)
        if (buffer->dim[i].extent != 1) return buffer->dim[i].sm;
    return (CFI_index_t)buffer->elem_len;
}

/* Copies between the section and a contiguous array, element by element. */
static void copy_elements(const CFI_cdesc_t* buffer, char* contiguous, bool into_section) {
    CFI_index_t at[CFI_MAX_RANK] = {0};
    char* element = buffer->base_addr;
    for (size_t left = element_count(buffer); left > 0; left--) {
        if (into_section)
            memcpy(element, contiguous, buffer->elem_len);
        else
            memcpy(contiguous, element, buffer->elem_len);
        contiguous += buffer->elem_len;
        for (int i = 0; i < buffer->rank; i++) {
            element += buffer->dim[i].sm;
            if (++at[i] < buffer->dim[i].extent) break;
            element -= buffer->dim[i].sm * buffer->dim[i].extent;
            at[i] = 0;
        }
    }
}

/* An array element as a multiple of the given contiguous datatype; MPI_DATATYPE_NULL if it is not one. */
static MPI_Datatype element_type(const CFI_cdesc_t* buffer, int type, MPI_Count* per_element) {
    const MPI_Datatype given = PMPI_Type_fromint(type);
    MPI_Count size = 0, lb = 0, extent = 0;
    MPI_Datatype element = MPI_DATATYPE_NULL;
    if (PMPI_Type_size_c(given, &size) != MPI_SUCCESS ||
        PMPI_Type_get_extent_c(given, &lb, &extent) != MPI_SUCCESS)
        return element;
    if (size <= 0 || size != extent || lb != 0 || (MPI_Count)buffer->elem_len % size != 0) return element;
    *per_element = (MPI_Count)buffer->elem_len / size;
    PMPI_Type_contiguous_c(*per_element, given, &element);
    return element;
}

/* The first n elements of the section: whole slabs of each dimension, from the last one down, and the
 * remainder. */
static int first_elements(const CFI_cdesc_t* buffer, MPI_Count n, MPI_Datatype element, MPI_Datatype* made) {
    MPI_Datatype slab[CFI_MAX_RANK + 1];
    MPI_Count elements[CFI_MAX_RANK + 1]; /* of a slab */
    MPI_Datatype part[CFI_MAX_RANK + 1];
    MPI_Count lengths[CFI_MAX_RANK + 1], displacements[CFI_MAX_RANK + 1];
    MPI_Count parts = 0, displacement = 0;
    const int rank = buffer->rank;
    slab[0] = element;
    elements[0] = 1;
    for (int i = 0; i < rank; i++) {
        elements[i + 1] = elements[i] * buffer->dim[i].extent;
        PMPI_Type_create_hvector_c(buffer->dim[i].extent, 1, buffer->dim[i].sm, slab[i], &slab[i + 1]);
    }
    if (n > elements[rank]) n = elements[rank] + 1; /* exceeds the section: an error below */
    for (int i = rank; i > 0 && n > 0 && n <= elements[rank]; i--) {
        const MPI_Count whole = n / elements[i - 1];
        if (whole == 0) continue;
        PMPI_Type_create_hvector_c(whole, 1, buffer->dim[i - 1].sm, slab[i - 1], &part[parts]);
        lengths[parts] = 1;
        displacements[parts++] = displacement;
        displacement += whole * buffer->dim[i - 1].sm;
        n -= whole * elements[i - 1];
    }
    int err = n > 0 ? MPI_ERR_COUNT : PMPI_Type_create_struct_c(parts, lengths, displacements, part, made);
    for (MPI_Count i = 0; i < parts; i++) PMPI_Type_free(&part[i]);
    for (int i = 1; i <= rank; i++) PMPI_Type_free(&slab[i]);
    return err;
}

static int describe(struct zipmpi_section* section, const CFI_cdesc_t* buffer, enum zipmpi_use use,
                    const MPI_Count* count, const int* type, bool* described) {
    MPI_Count per_element = 0;
    MPI_Datatype element = type != NULL ? element_type(buffer, *type, &per_element) : MPI_DATATYPE_NULL;
    int err = MPI_SUCCESS;
    if (element == MPI_DATATYPE_NULL) return err;
    if (per_element == 1 && is_strided(buffer)) {
        err = PMPI_Type_create_resized_c(element, 0, first_stride(buffer), &section->made);
        *described = true;
    } else if (use == zipmpi_exact && count != NULL && *count % per_element == 0) {
        err = first_elements(buffer, *count / per_element, element, &section->made);
        section->count = 1;
        section->large_count = 1;
        section->has_count = true;
        *described = true;
    }
    PMPI_Type_free(&element);
    if (err == MPI_SUCCESS && *described) {
        err = PMPI_Type_commit(&section->made);
        section->type = PMPI_Type_toint(section->made);
        section->has_type = true;
    }
    return err;
}

int zipmpi_section_open(struct zipmpi_section* section, const CFI_cdesc_t* buffer, struct zipmpi_buffer how,
                        const MPI_Count* count, const int* type) {
    *section = (struct zipmpi_section){.address = buffer->base_addr, .made = MPI_DATATYPE_NULL};
    if (how.use == zipmpi_address || !zipmpi_is_noncontiguous(buffer)) return MPI_SUCCESS;
    bool described = false;
    if (how.use != zipmpi_whole) {
        const int err = describe(section, buffer, how.use, count, type, &described);
        if (err != MPI_SUCCESS || described) return err;
    }
    if (!how.may_copy) return MPI_ERR_BUFFER;
    section->copy = malloc(element_count(buffer) * buffer->elem_len);
    if (section->copy == NULL) return MPI_ERR_NO_MEM;
    /* Loaded even for output-only buffers, because the call may leave elements unchanged. */
    copy_elements(buffer, section->copy, false);
    section->address = section->copy;
    section->write_back = how.written;
    return MPI_SUCCESS;
}

void zipmpi_section_close(struct zipmpi_section* section, const CFI_cdesc_t* buffer) {
    if (section->made != MPI_DATATYPE_NULL) PMPI_Type_free(&section->made);
    if (section->write_back) copy_elements(buffer, section->copy, true);
    free(section->copy);
}

void zipmpi_section_failed(int err, int* ierror) {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, err);
    if (ierror != NULL) *ierror = err;
}
