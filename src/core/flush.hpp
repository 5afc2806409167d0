// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the program has written and what still lies in buffers of its language: out with it, before the
// library ends the process.
#pragma once

namespace zipmpi::core {

// Flushes the streams of C and C++ and the units of gfortran. Returns after at most two seconds: a thread of
// the program may hold a stream, or nobody may read what is written.
void flush_program_output() noexcept;

} // namespace zipmpi::core
