// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program as a row of numbers that another process makes the same program of. Loops stay loops: what is
// regular takes a few numbers, whatever the count.
#pragma once

#include "layout/program.hpp"

namespace zipmpi::layout {

// No place, size or count in a description is larger.
inline constexpr int64_t most_described = int64_t{1} << 48;

// Returns how many numbers were written; 0: there is no room for them, or no data.
size_t describe(const Program& program, int64_t* numbers, size_t room);

// The numbers may come from anybody. Null: they describe nothing.
ProgramPtr described(const int64_t* numbers, size_t count);

// From where to where the data of so many elements reach, from the address of the first. False: further than
// anything that may be described.
bool reach(const Program& program, int64_t count, int64_t& low, int64_t& high);

} // namespace zipmpi::layout
