// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the ABI and the program's Fortran compiler say about sizes. Fortran's answers are given once, by
// whoever knows them.
//
// Threads: under the engine lock.
#include "abi/custom.hpp"
#include "abi/errors.hpp"

#include <cstring>

namespace zipmpi::abi::custom {
namespace {

struct Booleans {
    int size = 0; // 0: not set
    unsigned char yes[16];
    unsigned char no[16];
};
Booleans booleans;
core::Info* fortran_info = nullptr;

Err check_size(int size) {
    for (const int possible : {1, 2, 4, 8, 16})
        if (size == possible) return Err::success;
    return fail(Err::arg, "pass 1, 2, 4, 8 or 16", "logical_size is %d", size);
}

Err set_once() {
    return fail(Err::abi, "set it once, before it is used", "the program has set this already");
}

Err add_size(core::Info& info, const char* key, size_t size) {
    return core::info_set(info, key, std::to_string(size).c_str());
}

} // namespace

Err abi_get_info(core::Info*& info) {
    Err e = core::info_create(info);
    if (e == Err::success) e = add_size(*info, "mpi_aint_size", sizeof(MPI_Aint));
    if (e == Err::success) e = add_size(*info, "mpi_count_size", sizeof(MPI_Count));
    if (e == Err::success) e = add_size(*info, "mpi_offset_size", sizeof(MPI_Offset));
    return e;
}

Err abi_set_fortran_info(core::Info* info) {
    if (info == nullptr) return fail(Err::info, "pass an info object", "info is MPI_INFO_NULL");
    return fortran_info == nullptr ? core::info_dup(*info, fortran_info) : set_once();
}

Err abi_get_fortran_info(core::Info*& info) {
    info = nullptr;
    return fortran_info != nullptr ? core::info_dup(*fortran_info, info) : Err::success;
}

Err abi_set_fortran_booleans(int size, void* yes, void* no) {
    if (const Err e = check_size(size); e != Err::success) return e;
    if (yes == nullptr || no == nullptr)
        return fail(Err::arg, "pass the addresses of two values", "a value is a null pointer");
    if (booleans.size != 0) return set_once();
    booleans.size = size;
    std::memcpy(booleans.yes, yes, static_cast<size_t>(size));
    std::memcpy(booleans.no, no, static_cast<size_t>(size));
    return Err::success;
}

Err abi_get_fortran_booleans(int size, void* yes, void* no, bool& is_set) {
    if (const Err e = check_size(size); e != Err::success) return e;
    is_set = booleans.size == size;
    if (!is_set) return Err::success;
    if (yes == nullptr || no == nullptr)
        return fail(Err::arg, "pass the addresses of two variables", "a value is a null pointer");
    std::memcpy(yes, booleans.yes, static_cast<size_t>(size));
    std::memcpy(no, booleans.no, static_cast<size_t>(size));
    return Err::success;
}

} // namespace zipmpi::abi::custom
