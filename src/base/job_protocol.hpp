// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which versions of ZipMPI can be in one job, on different hosts. mpiexec sends its text to daemons, and rank
// 0 its text to ranks under other launchers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi {

// Changes with everything that processes on different hosts exchange: bootstrap data, control frames,
// handshakes, published values, messages, frames of gateways. Patch releases of a minor version have the same
// number.
inline constexpr uint32_t job_protocol = 1;
static_assert(job_protocol < 0x100, "handshakes keep their options in the bits above");

// Version and protocol of this process: "ZipMPI 0.2.0, job protocol 1".
std::string_view job_protocol_text();

// Whether a process with this text understands one with the other text.
bool is_same_job_protocol(std::string_view text, std::string_view other);

// The reason why a job was refused. other: the process with that text.
std::string job_protocol_reason(std::string_view other, std::string_view text);
inline constexpr const char* job_protocol_fix = "install the same minor version of ZipMPI on all hosts of "
                                                "the job (patch releases of it can be mixed), or name "
                                                "the folder of the right one: mpiexec --prefix FOLDER";

} // namespace zipmpi
