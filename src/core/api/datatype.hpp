// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls on datatypes (MPI chapters 5, 16 and 19). `large`: the large-count form was called, for
// MPI_Type_get_contents.
#pragma once

#include "core/api/common.hpp"

namespace zipmpi::core {

Err get_address(const void* location, int64_t& address);
Err type_size(Datatype& type, int64_t& size);
Err type_get_extent(Datatype& type, int64_t& lower, int64_t& extent);
Err type_get_true_extent(Datatype& type, int64_t& lower, int64_t& extent);
Err type_commit(Datatype*& type);
Err type_free(Datatype*& type);
Err get_elements(const Status& status, Datatype& type, int64_t& count); // undefined if not a multiple
int64_t bytes_of_elements(const Datatype& type, int64_t elements);      // basic elements
Err type_contiguous(int64_t count, Datatype& old, Datatype*& type, bool large);
Err type_vector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type, bool large);
Err type_create_hvector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type,
                        bool large);
Err type_indexed(int64_t count, CountArray blocks, CountArray displs, Datatype& old, Datatype*& type,
                 bool large);
Err type_create_hindexed(int64_t count, CountArray blocks, CountArray displs, Datatype& old, Datatype*& type,
                         bool large);
Err type_create_indexed_block(int64_t count, int64_t block, CountArray displs, Datatype& old, Datatype*& type,
                              bool large);
Err type_create_hindexed_block(int64_t count, int64_t block, CountArray displs, Datatype& old,
                               Datatype*& type, bool large);
Err type_create_struct(int64_t count, CountArray blocks, CountArray displs, Datatype** types, Datatype*& type,
                       bool large);
Err type_create_subarray(int64_t dims, CountArray sizes, CountArray subsizes, CountArray starts, int order,
                         Datatype& old, Datatype*& type, bool large);
Err type_create_darray(int size, int rank, int64_t dims, CountArray sizes, const int* distributions,
                       const int* arguments, const int* psizes, int order, Datatype& old, Datatype*& type,
                       bool large);
Err type_create_resized(Datatype& old, int64_t lower, int64_t extent, Datatype*& type, bool large);
Err type_dup(Datatype& old, Datatype*& type);
Err type_get_value_index(Datatype& value, Datatype& index, Datatype*& pair); // null: none
Err type_create_f90_real(int precision, int range, Datatype*& type);
Err type_create_f90_complex(int precision, int range, Datatype*& type);
Err type_create_f90_integer(int range, Datatype*& type);
Err type_match_size(TypeClass type_class, int size, Datatype*& type);
Err type_get_envelope(Datatype& type, int64_t& integers, int64_t& addresses, int64_t& types,
                      Combiner& combiner);
Err type_get_envelope(Datatype& type, int64_t& integers, int64_t& addresses, int64_t& large_counts,
                      int64_t& types, Combiner& combiner);
Err type_get_contents(Datatype& type, int64_t max_integers, int64_t max_addresses, int64_t max_types,
                      int* integers, int64_t* addresses, Datatype** types);
Err type_get_contents(Datatype& type, int64_t max_integers, int64_t max_addresses, int64_t max_large_counts,
                      int64_t max_types, int* integers, int64_t* addresses, int64_t* large_counts,
                      Datatype** types);
Err pack(const void* in, int64_t count, Datatype& type, void* out, int64_t size, int64_t& position, Comm&);
Err unpack(const void* in, int64_t size, int64_t& position, void* out, int64_t count, Datatype& type, Comm&);
Err pack_size(int64_t count, Datatype& type, Comm&, int64_t& size);
Err pack_external(const char* format, const void* in, int64_t count, Datatype& type, void* out, int64_t size,
                  int64_t& position);
Err unpack_external(const char* format, const void* in, int64_t size, int64_t& position, void* out,
                    int64_t count, Datatype& type);
Err pack_external_size(const char* format, int64_t count, Datatype& type, int64_t& size);

} // namespace zipmpi::core
