// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Objects of the C++ interface of Open MPI 4: the address of the virtual functions and a handle. A program
// that uses a class contains its virtual functions.
#pragma once

#include <mpi.h>

template <class Handle>
struct CxxObject {
    const void* virtual_functions;
    Handle handle;
};

extern "C" {
using VirtualTable = const void* const[];
extern VirtualTable datatype_functions asm("_ZTVN3MPI8DatatypeE") __attribute__((weak));
extern VirtualTable operation_functions asm("_ZTVN3MPI2OpE") __attribute__((weak));
extern VirtualTable group_functions asm("_ZTVN3MPI5GroupE") __attribute__((weak));
extern VirtualTable intracomm_functions asm("_ZTVN3MPI9IntracommE") __attribute__((weak));
extern VirtualTable null_comm_functions asm("_ZTVN3MPI9Comm_NullE") __attribute__((weak));
}

// What an object refers to: the table without its first two words, offset and type information.
constexpr const void* functions_of(const void* const* table) { return table + 2; }
