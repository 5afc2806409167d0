// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi tune`: measures message costs on this machine, writes them to a file, and prints the changes.
#pragma once

#include "json.hpp"
#include "tune/measure.hpp"

#include <string>

namespace zipmpi::tool {

struct TuneOptions {
    std::string output;  // empty: the first file that the library reads
    double seconds = 30; // less if enough rounds were measured
    bool dry_run = false;
    bool restart = false; // ignore the results of an interrupted run
    bool json = false;    // print JSON instead of text
};

int run_tune(const TuneOptions& options);

// Contents of the file and printed text: pure, for tests.
std::string costs_file_text(const std::vector<Measurement>& all, const std::string& host);
std::string changes_text(const std::vector<Measurement>& all, uint64_t cell_bytes);
Json class_facts(const std::vector<Measurement>& all, uint64_t cell_bytes); // for --json
bool is_unreliable(const Measurement& m);                                   // the rounds differ strongly

} // namespace zipmpi::tool
