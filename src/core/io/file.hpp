// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An open file. Each file has its own communicator.
#pragma once

#include "core/api/common.hpp"
#include "core/comm/comm.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/io/shared_pointer.hpp"
#include "core/io/view.hpp"

#include <mutex>

namespace zipmpi::core {

namespace io {

enum class Where { at_offset, individual_pointer, shared_pointer, ordered };

// State of a split collective between begin and end.
struct Split {
    bool active = false;
    bool writes = false;
    Where where = Where::at_offset;
    Status status;
};

// Hints, parsed.
struct IoHints {
    enum class Buffering { automatic, always, never };
    int64_t aggregators = 0; // 0: chosen automatically
    int64_t buffer_bytes = 0;
    Buffering reads = Buffering::automatic;
    Buffering writes = Buffering::automatic;
};

} // namespace io

struct File : Object {
    static constexpr ObjectKind class_id = ObjectKind::file;

    Comm* comm = nullptr;             // private to the file
    Errhandler* errhandler = nullptr; // reference-counted
    os::Fd fd;
    std::string name;
    int amode = 0;
    bool readable = true; // holes can be read before they are rewritten
    bool atomic = false;
    bool single_host = false; // all processes are on one host
    io::ViewPtr view;
    int64_t position = 0; // individual file pointer, in etypes
    io::SharedPointer shared;
    io::Split split;
    Hints hints;
    io::IoHints io_hints;
    std::vector<int> aggregators; // ranks of the aggregators, by preference
    std::mutex atomic_mutex;      // between threads: file locks belong to the process

    [[nodiscard]] proto::Team& team() { return comm->team; }
};

File* make_file();
void destroy(File& file);
Errhandler& default_file_errhandler();

} // namespace zipmpi::core
