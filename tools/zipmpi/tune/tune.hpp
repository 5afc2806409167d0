// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi tune`: measures what messages cost on this machine, keeps it in a file, and says what changes.
#pragma once

#include "tune/measure.hpp"

#include <string>

namespace zipmpi::tool {

struct TuneOptions {
    std::string output;  // empty: where the library looks first
    double seconds = 30; // less if enough rounds were measured
    bool dry_run = false;
    bool fresh = false; // do not go on where an interrupted run has ended
};

int run_tune(const TuneOptions& options);

// The file's text, and what is printed: pure, for tests.
std::string costs_file_text(const std::vector<Measurement>& all, const std::string& host);
std::string changes_text(const std::vector<Measurement>& all, uint64_t cell_bytes);

} // namespace zipmpi::tool
