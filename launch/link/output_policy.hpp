// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the user asks of the ranks' standard streams: filled by the command line, carried in the start
// request, obeyed by the daemons (labels, files) and by mpiexec (folding, standard input). Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi::launch {

struct OutputPolicy {
    // What stands in front of each line. fold: lines that are equal on several ranks are shown once, "[0-63]
    // text".
    enum class Label : uint32_t { none, rank, fold } label = Label::none;
    // How the label is written.
    enum class Tag : uint32_t {
        rank,    // "[3] text", also hydra's -l and -prepend-rank
        openmpi, // "[1,3]<stdout>:text", as Open MPI's --tag-output
        pattern  // tag_pattern, as hydra's -prepend-pattern
    } tag = Tag::rank;
    std::string tag_pattern;
    bool timestamps = false; // in front of the label

    // Files for standard output and standard error, on the host of the rank: a pattern, see expand(). Empty:
    // none. Ranks for which it gives the same name share the file. Relative names start at the directory of
    // the job.
    std::string out_file, err_file;
    bool copy_to_terminal = true;        // a stream that goes to a file is shown as well
    bool merge_stderr_to_stdout = false; // in the rank itself, so that the order of its lines stays

    enum class Stdin : uint32_t { one, all, none } stdin_for = Stdin::one; // which ranks read mpiexec's stdin
    uint32_t stdin_rank = 0;                                               // of Stdin::one
    bool print_exit_codes = false; // of all ranks, on stdout when the job has ended
};

// Names of files per rank, as patterns for out_file and err_file.
void use_directory(OutputPolicy& p, std::string_view directory); // DIR/rank.07.out, DIR/rank.07.err
void use_files(OutputPolicy& p, std::string_view name);          // NAME.07.out, NAME.07.err
enum class JobLevel { named, left_out };
// DIR/1/rank.07/stdout, .../stderr; without the level of the job DIR/rank.07/stdout.
void use_openmpi_directory(OutputPolicy& p, std::string_view directory, JobLevel level);

// What a pattern may speak of.
struct PatternFacts {
    uint32_t rank = 0, world_size = 1, node = 0;
    std::string host;
};

// %r rank, %R rank with leading zeros, %g number of the process group (0), %p number of the node, %h its
// name, %t seconds since 1970, %% a percent sign. False: something else follows a percent sign; it is left in
// `out`.
bool expand(std::string_view pattern, const PatternFacts& facts, std::string& out);

} // namespace zipmpi::launch
