// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/custom.hpp"

#include "abi/fortran_handles.hpp"

#include <array>

namespace zipmpi::abi::custom {
namespace {

constexpr int numbers_end = 128;
constexpr size_t kinds_end = 16;
constexpr size_t position_of(core::ObjectKind kind) { return static_cast<uint32_t>(kind) % kinds_end; }

constexpr auto numbers = [] {
    std::array<int8_t, codes_end> all{};
    all.fill(-1);
    for (const values::FortranHandle& row : values::fortran_handles) all[row.code] = row.number;
    return all;
}();

// Row of each number, or -1.
constexpr auto rows = [] {
    std::array<std::array<int8_t, numbers_end>, kinds_end> all{};
    for (auto& kind : all) kind.fill(-1);
    int8_t position = 0;
    for (const values::FortranHandle& row : values::fortran_handles)
        all[position_of(row.kind)][static_cast<size_t>(row.number)] = position++;
    return all;
}();

} // namespace

int fortran_number(uintptr_t index) noexcept { return numbers[index]; }

void* fortran_object(core::ObjectKind kind, int number) noexcept {
    if (number < 0 || number >= numbers_end) return nullptr;
    const int8_t row = rows[position_of(kind)][static_cast<size_t>(number)];
    return row >= 0 ? values::fortran_handles[row].object : nullptr;
}

} // namespace zipmpi::abi::custom
