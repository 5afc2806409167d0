// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The file pointer that all processes of a file share, in etypes. On one node it is a word in the memory of
// the node. Over several it is in a hidden file beside the data, under a lock: a process that computes needs
// not serve the others, and who can write the one file can write the other.
//
// Threads: under the engine lock.
#pragma once

#include "base/err.hpp"
#include "os/fd.hpp"
#include "proto/team.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::core::io {

class SharedPointer {
  public:
    // On all processes of a file. Nothing is made on disk before the first use.
    Err open(proto::Team& team, const std::string& file_name);
    // Nobody uses it any more; the first process removes it.
    void close(const proto::Team& team);
    Err add(int64_t etypes, int64_t& before);
    Err get(int64_t& etypes) { return add(0, etypes); }
    Err set(int64_t etypes);

  private:
    template <class Change>
    Err change_file(const Change& change);
    int64_t alone_ = 0;  // of a file of one process
    uint64_t board_ = 0; // in the node's memory; 0: not there
    std::string path_;   // of the hidden file
    os::Fd fd_;
};

} // namespace zipmpi::core::io
