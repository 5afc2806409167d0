// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Common to MPI_Iprobe and MPI_Improbe.
#pragma once

#include "core/p2p/p2p.hpp"
#include "core/request/ended_collectives.hpp"
#include "proto/progress/wait.hpp"

#include <utility>

namespace zipmpi::core {

// take(message) for the first message that matches, if necessary after progress. Null in the first call after
// the end of a nonblocking collective, and if the message was sent after a nonblocking barrier in progress
// here.
template <class Take>
auto find_message(int source, int tag, const Comm& comm, const Take& take)
    -> decltype(take(std::declval<const proto::IncomingMessage&>())) {
    const auto find = [&]() -> decltype(take(std::declval<const proto::IncomingMessage&>())) {
        const proto::IncomingMessage* const first = progress_engine().probe(comm.team.context, source, tag);
        return first == nullptr || comm.barriers.is_later(first->envelope) ? nullptr : take(*first);
    };
    const bool hidden = ended_collectives.take_new();
    if (const auto found = hidden ? nullptr : find(); found != nullptr) return found;
    const proto::ExpectedProbe expecting(progress_engine().shm(), source, world_source(comm, source));
    proto::poll(progress_engine());
    return hidden || ended_collectives.take_new() ? nullptr : find();
}

} // namespace zipmpi::core
