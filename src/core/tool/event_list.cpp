// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/events.hpp"

#include <iterator>

namespace zipmpi::core::tool {
namespace {

// In the order of proto::EventType. The name begins with the category.
constexpr EventEntry entries[] = {
    {"p2p.unexpected_message",
     "a message has arrived before its receive: source in its communicator, tag, bytes", Verbosity::user, 3},
    {"p2p.unexpected_match",
     "a receive takes a message that has waited for it: source in its communicator, tag, bytes",
     Verbosity::user, 3},
    {"p2p.send_queued", "a send waits for space or for its connection: rank in MPI_COMM_WORLD, tag, bytes",
     Verbosity::user, 3},
    {"p2p.rendezvous_start",
     "a long message is announced to its receiver: rank in MPI_COMM_WORLD, tag, bytes", Verbosity::user, 3},
    {"p2p.rendezvous_copy",
     "the receiver has chosen the path of a long message: source in its communicator, bytes, path (0 "
     "cooperative copy, 1 shared arena, 2 CMA, 3 fragments, 4 network)",
     Verbosity::tuner, 3},
    {"wait.sleep", "a blocking call sleeps until a message arrives: number of pending operations",
     Verbosity::user, 1},
    {"wait.wakeup", "it continues: nanoseconds asleep", Verbosity::user, 1},
    {"p2p.first_message",
     "first message to a rank; to one of another host it opens the connection: rank in MPI_COMM_WORLD",
     Verbosity::user, 1},
    {"fault.rank_failed", "a rank has failed: rank in MPI_COMM_WORLD", Verbosity::user, 1},
    {"fault.comm_revoked", "a communicator has been revoked: its context id", Verbosity::user, 1},
};
static_assert(std::size(entries) == proto::event_types);

} // namespace

const EventEntry& event_entry(proto::EventType type) { return entries[static_cast<size_t>(type)]; }

int events() { return proto::event_types; }

bool event_info(int index, Variable& variable, int& elements) {
    if (index < 0 || index >= events()) return false;
    const EventEntry& entry = entries[index];
    variable = {};
    variable.name = entry.name;
    variable.help = entry.help;
    variable.verbosity = entry.verbosity;
    elements = entry.elements;
    return true;
}

int find_event(std::string_view name) {
    for (int i = 0; i < events(); ++i)
        if (entries[i].name == name) return i;
    return -1;
}

} // namespace zipmpi::core::tool
