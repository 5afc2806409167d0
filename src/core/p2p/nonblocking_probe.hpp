// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Common to MPI_Iprobe and MPI_Improbe.
#pragma once

#include "core/p2p/p2p.hpp"
#include "core/request/ended_collectives.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {

// The result of `look`, if necessary after progress. Null in the first call after the end of a nonblocking
// collective.
template <class Look>
auto look_for_message(int source, const Comm& comm, const Look& look) -> decltype(look()) {
    const bool hidden = ended_collectives.take_new();
    if (const auto found = hidden ? nullptr : look(); found != nullptr) return found;
    const proto::ExpectedProbe expecting(progress_engine().shm(), source, world_source(comm, source));
    proto::poll(progress_engine());
    return hidden || ended_collectives.take_new() ? nullptr : look();
}

} // namespace zipmpi::core
