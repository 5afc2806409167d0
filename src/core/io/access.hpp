// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes of files. An Access describes a call; its execution, independent or collective, does not
// depend on how the offset was given.
#pragma once

#include "core/io/file.hpp"
#include "core/io/posix_file.hpp"

namespace zipmpi::core::io {

struct Access {
    bool writes = false;
    Where where = Where::at_offset;
    bool collective = false; // all processes call it and wait for each other
    int64_t offset = 0;      // at_offset: in etypes
    void* buffer = nullptr;
    int64_t count = 0;
    Datatype* type = nullptr;
};

Err perform(File& file, const Access& access, Status& status);

// Data in file representation, and its position in the data stream of the view.
struct ViewRange {
    uint64_t from = 0;
    uint64_t bytes = 0;
    std::byte* data = nullptr;
};

// Moves data of one process. `moved`: bytes transferred, counted from the first; less than requested at end
// of file.
Err independent_access(File& file, const View& view, const ViewRange& range, bool writes, uint64_t& moved);
// Moves data of all processes of the file (two-phase). A process that cannot take part passes its error and
// an empty range.
Err collective_access(File& file, const View& view, const ViewRange& range, bool writes, Err own_error,
                      uint64_t& moved);

} // namespace zipmpi::core::io
