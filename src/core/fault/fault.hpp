// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What communicators know of failed members. News come through the lane (proto/p2p/faults.hpp).
#pragma once

#include "boot/node_segment.hpp"
#include "core/comm/comm.hpp"

namespace zipmpi::core {

struct Engine;

// From now on communicators are told of faults.
void listen_for_faults(Engine& e);
// A communicator that has just been made may have members that are known to have failed.
void look_for_faults(Comm& comm);
// It is gone, and its context may be another's soon. False: the context was revoked and is not used again.
bool forget_faults(const Comm& comm);

// An agreement of all members of a communicator that live: flags are combined bit by bit, of the values the
// largest counts, and all know the same failed ranks. It goes through the launcher, so that it ends whoever
// dies meanwhile; under launchers that know no faults it is a collective.
Err agree(Comm& comm, uint32_t flags, uint32_t value, boot::Decided& decided);

} // namespace zipmpi::core
