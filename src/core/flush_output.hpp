// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Flushes buffered output of the application before the library terminates the process.
#pragma once

namespace zipmpi::core {

// Flushes C and C++ streams and gfortran units. Returns after at most two seconds, because an application
// thread may hold a stream or the reader of the output may be blocked.
void flush_program_output() noexcept;

} // namespace zipmpi::core
