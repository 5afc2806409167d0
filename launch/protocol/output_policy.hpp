// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Policy of the ranks' standard streams: filled from the command line, carried in the start request, applied
// by the daemons (labels, files) and by mpiexec (folding, standard input). Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi::launch {

struct OutputPolicy {
    // Prefix of each line. fold: equal lines of several ranks are shown once, "[0-63] text".
    enum class Label : uint32_t { none, rank, fold } label = Label::none;
    // Format of the label.
    enum class Tag : uint32_t {
        rank,    // "[3] text", also hydra's -l and -prepend-rank
        openmpi, // "[1,3]<stdout>:text", as Open MPI's --tag-output
        pattern  // tag_pattern, as hydra's -prepend-pattern
    } tag = Tag::rank;
    std::string tag_pattern;
    bool timestamps = false; // before the label

    // File name patterns (see expand()) for standard output and standard error, on the host of the rank.
    // Empty: none. Ranks with equal names share the file. Relative names start at the directory of the job.
    std::string out_file, err_file;
    bool copy_to_terminal = true;        // a stream written to a file is also shown
    bool merge_stderr_to_stdout = false; // in the rank, to keep the order of its lines

    enum class Stdin : uint32_t { one, all, none } stdin_for = Stdin::one; // ranks that read mpiexec's stdin
    uint32_t stdin_rank = 0;                                               // for Stdin::one
    bool print_exit_codes = false; // of all ranks, on stdout after the job
};

// Set out_file and err_file to patterns per rank.
void set_output_directory(OutputPolicy& p, std::string_view directory); // DIR/rank.07.out, DIR/rank.07.err
void set_output_files(OutputPolicy& p, std::string_view name);          // NAME.07.out, NAME.07.err
enum class JobLevel { included, omitted };
// DIR/1/rank.07/stdout, .../stderr; without the job level DIR/rank.07/stdout.
void set_openmpi_directory(OutputPolicy& p, std::string_view directory, JobLevel level);

// Values for the placeholders of a pattern.
struct PatternValues {
    uint32_t rank = 0, world_size = 1, node = 0;
    std::string host;
};

// %r rank, %R rank with leading zeros, %g number of the process group (0), %p number of the node, %h its
// name, %t seconds since 1970, %% a percent sign. Returns false at an unknown placeholder, which stays in
// `out`.
bool expand(std::string_view pattern, const PatternValues& values, std::string& out);

} // namespace zipmpi::launch
