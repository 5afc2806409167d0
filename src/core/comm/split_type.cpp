// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators of processes that share hardware.
#include "core/comm/split.hpp"
#include "core/state.hpp"

namespace zipmpi::core {
namespace {

// Processes of one host have the same number: the first rank of the job there.
int host_number() { return engine()->segment.world_rank(0); }

bool one_host(const Comm& comm) {
    const boot::NodeSegment& segment = engine()->segment;
    return comm.own_team().size <= static_cast<int>(segment.local_ranks()) &&
           static_cast<int>(segment.local_ranks()) == engine()->job.size;
}

// The colour of what the info object names; undefined if there is no such thing here.
int color_of_resource(Info* info, const char* key) {
    const std::string* const name = info != nullptr ? hints_of(*info).find(key) : nullptr;
    if (name == nullptr) return undefined;
    if (*name == "mpi_shared_memory") return host_number();
    if (*name == "mpi://WORLD") return 0;
    if (*name == "mpi://SELF") return engine()->job.rank;
    return undefined;
}

int color_for(const Comm& comm, SplitType type, Info* info) {
    switch (type) {
    case SplitType::shared:
        return host_number();
    case SplitType::hw_guided:
        return color_of_resource(info, "mpi_hw_resource_type");
    case SplitType::resource_guided: {
        const int color = color_of_resource(info, "mpi_hw_resource_type");
        return color != undefined ? color : color_of_resource(info, "mpi_pset_name");
    }
    case SplitType::hw_unguided: // must give smaller communicators than the original
        return one_host(comm) ? undefined : host_number();
    case SplitType::none:
        break;
    }
    return undefined;
}

} // namespace

Err comm_split_type(Comm& comm, SplitType type, int key, Info* info, Comm*& result) {
    return split(comm, color_for(comm, type, info), key, result);
}

Err get_hw_resource_info(Info*& info) {
    Hints hints;
    hints.set("mpi_shared_memory", "true"); // a process is on one host only
    return make_info(std::move(hints), info);
}

} // namespace zipmpi::core
