// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The shared file pointer, in etypes. On one node it is a word in the node segment. Over several nodes it is
// stored in a hidden file next to the data file and protected by a file lock, so computing processes do not
// have to serve others. It needs write permission in the directory of the data file.
//
// Threads: called with the progress engine lock held.
#pragma once

#include "base/err.hpp"
#include "os/fd.hpp"
#include "proto/team.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::core::io {

class SharedPointer {
  public:
    // Collective over the processes of the file. The hidden file is created on first use.
    Err open(proto::Team& team, const std::string& file_name);
    // Called after the last use; rank 0 removes the hidden file.
    void close(const proto::Team& team);
    Err add(int64_t etypes, int64_t& before);
    Err get(int64_t& etypes) { return add(0, etypes); }
    Err set(int64_t etypes);

  private:
    template <class Change>
    Err update_file(const Change& change);
    int64_t local_value_ = 0;  // for a file of one process
    uint64_t word_offset_ = 0; // in the node segment; 0: not allocated
    std::string path_;         // hidden file
    os::Fd fd_;
};

} // namespace zipmpi::core::io
