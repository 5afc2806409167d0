// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes in this ABI and in the Fortran compiler of the application. Fortran values are set once.
//
// Threads: called with the progress engine lock held.
#include "abi/custom.hpp"
#include "abi/errors.hpp"
#include "core/api/info.hpp"

#include <cstring>

namespace zipmpi::abi::custom {
namespace {

struct FortranBooleans {
    int size = 0; // 0: not set
    unsigned char true_value[16];
    unsigned char false_value[16];
};
FortranBooleans booleans;
core::Info* fortran_info = nullptr;

Err check_size(int size) {
    for (const int possible : {1, 2, 4, 8, 16})
        if (size == possible) return Err::success;
    return fail(Err::arg, "pass 1, 2, 4, 8 or 16", "logical_size is %d", size);
}

Err already_set() {
    return fail(Err::abi, "set it only once, before it is used", "the value is already set");
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
    return fortran_info == nullptr ? core::info_dup(*info, fortran_info) : already_set();
}

Err abi_get_fortran_info(core::Info*& info) {
    info = nullptr;
    return fortran_info != nullptr ? core::info_dup(*fortran_info, info) : Err::success;
}

Err abi_set_fortran_booleans(int size, void* true_value, void* false_value) {
    if (const Err e = check_size(size); e != Err::success) return e;
    if (true_value == nullptr || false_value == nullptr)
        return fail(Err::arg, "pass the addresses of two values", "a value is a null pointer");
    if (booleans.size != 0) return already_set();
    booleans.size = size;
    std::memcpy(booleans.true_value, true_value, static_cast<size_t>(size));
    std::memcpy(booleans.false_value, false_value, static_cast<size_t>(size));
    return Err::success;
}

Err abi_get_fortran_booleans(int size, void* true_value, void* false_value, bool& is_set) {
    if (const Err e = check_size(size); e != Err::success) return e;
    is_set = booleans.size == size;
    if (!is_set) return Err::success;
    if (true_value == nullptr || false_value == nullptr)
        return fail(Err::arg, "pass the addresses of two variables", "a value is a null pointer");
    std::memcpy(true_value, booleans.true_value, static_cast<size_t>(size));
    std::memcpy(false_value, booleans.false_value, static_cast<size_t>(size));
    return Err::success;
}

} // namespace zipmpi::abi::custom
