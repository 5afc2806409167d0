// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes of files. What a call wants is an Access; how it is done, by each process or together, is
// the same for all ways to say where.
#pragma once

#include "core/io/file.hpp"
#include "core/io/store.hpp"

namespace zipmpi::core::io {

struct Access {
    bool writes = false;
    Where where = Where::at_offset;
    bool together = false; // all processes call it, and wait for each other
    int64_t offset = 0;    // at_offset: in etypes
    void* buffer = nullptr;
    int64_t count = 0;
    Datatype* type = nullptr;
};

Err perform(File& file, const Access& access, Status& status);

// Bytes as they are in the file, and where they belong in the row of the view.
struct Row {
    uint64_t from = 0;
    uint64_t bytes = 0;
    std::byte* data = nullptr;
};

// `moved`: how many bytes, from the first on, are there; a file may end before.
Err move_alone(File& file, const View& view, const Row& row, bool writes, uint64_t& moved);
// The same, with all processes of the file. Who cannot take part passes its error, and an empty row.
Err move_together(File& file, const View& view, const Row& row, bool writes, Err mine, uint64_t& moved);

} // namespace zipmpi::core::io
