// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An open file. Its processes have a communicator of their own.
#pragma once

#include "core/comm/comm.hpp"
#include "core/errhandler/errhandler.hpp"
#include "core/io/calls.hpp"
#include "core/io/shared_pointer.hpp"
#include "core/io/view.hpp"

#include <mutex>

namespace zipmpi::core {

namespace io {

enum class Where { at_offset, own_pointer, shared_pointer, ordered };

// What a file does between the two halves of a split collective.
struct Split {
    bool active = false;
    bool writes = false;
    Where where = Where::at_offset;
    Status status;
};

// Hints in the form in which they are used.
struct Tuning {
    enum class Buffering { automatic, always, never };
    int64_t aggregators = 0; // 0: as many as seem right
    int64_t buffer_bytes = 0;
    Buffering reads = Buffering::automatic;
    Buffering writes = Buffering::automatic;
};

} // namespace io

struct File : Object {
    static constexpr Class class_id = Class::file;

    Comm* comm = nullptr;             // the file's own
    Errhandler* errhandler = nullptr; // counted
    os::Fd fd;
    std::string name;
    int amode = 0;
    bool gaps_can_be_read = true; // before they are written again
    bool atomic = false;
    bool on_one_host = false; // all its processes
    io::ViewPtr view;
    int64_t position = 0; // the own pointer, in etypes
    io::SharedPointer shared;
    io::Split split;
    Hints hints;
    io::Tuning tuning;
    std::vector<int> aggregators; // who writes and reads for the others, by preference
    std::mutex atomic_accesses;   // of threads of this process: locks of files are the process's

    [[nodiscard]] proto::Team& team() { return comm->team; }
};

File* make_file();
void destroy(File& file);
Errhandler& handler_of_new_files();

} // namespace zipmpi::core
