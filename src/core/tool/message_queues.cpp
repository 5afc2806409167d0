// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/message_queues.hpp"

#include "core/comm/comm.hpp"
#include "core/p2p/bsend_buffer.hpp"
#include "core/runtime_state.hpp"
#include "os/module_folder.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <cstring>
#include <string>
#include <vector>

// Of the library (abi/debugger_symbols.cpp); programs that contain this layer only have none.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] extern zipmpi::wire::QueueLayout zipmpi_message_queues;
[[gnu::weak, gnu::visibility("default")]] extern char MPIR_dll_name[zipmpi::wire::queue_reader_path_bytes];
}

namespace zipmpi::core {
namespace {

constexpr const char* reader = "zipmpi_msgq.so";

static_assert(sizeof(std::vector<void*>) == 3 * sizeof(void*), "the first two words are begin and end");

uint64_t address(const void* at) { return reinterpret_cast<uint64_t>(at); }

template <class Object, class Member>
uint32_t offset(const Object& object, const Member& member) {
    return static_cast<uint32_t>(address(&member) - address(&object));
}

void describe_operation(wire::QueueLayout& q) {
    const proto::Operation op;
    q.operation = {sizeof op,
                   offset(op, op.posted.link.next),
                   offset(op, op.posted.link.chain),
                   offset(op, op.posted.order),
                   offset(op, op.kind),
                   offset(op, op.context),
                   offset(op, op.source),
                   offset(op, op.tag),
                   offset(op, op.peer),
                   offset(op, op.world_peer),
                   offset(op, op.buffer),
                   offset(op, op.bytes),
                   offset(op, op.matched_source),
                   offset(op, op.matched_tag)};
    q.send_kind = static_cast<uint8_t>(proto::Operation::Kind::send);
    q.recv_kind = static_cast<uint8_t>(proto::Operation::Kind::recv);
    static_assert(sizeof op.kind == 1 && proto::any_source == wire::queue_any_source &&
                  proto::any_tag == wire::queue_any_tag);
}

void describe_message(wire::QueueLayout& q) {
    const proto::UnexpectedMessage u;
    const wire::Envelope& e = u.message.envelope;
    q.message = {sizeof u,         offset(u, u.next),          offset(u, e.context),     offset(u, e.source),
                 offset(u, e.tag), offset(u, u.message.bytes), offset(u, u.message.data)};
}

void describe_comm(wire::QueueLayout& q) {
    const Comm comm;
    const proto::RankMap& map = comm.team.map;
    const proto::RankMap::Places places = map.places();
    q.comm = {sizeof comm,
              offset(comm, comm.cls),
              offset(comm, comm.context),
              offset(comm, comm.team.rank),
              offset(comm, comm.team.size),
              offset(comm, *places.first),
              offset(comm, *places.stride),
              static_cast<uint32_t>(address(places.table) - address(&comm)),
              offset(comm, comm.name)};
    static_assert(sizeof(std::string) == 32, "libstdc++: begins with a pointer to the characters");
    q.comm_kind = static_cast<uint32_t>(ObjectKind::comm);
    q.comms_per_chunk = Slab<Comm>::chunk_objects;
}

} // namespace

void show_message_queues() {
    if (&zipmpi_message_queues == nullptr) return;
    const std::string path = os::module_path(reader);
    if (path.size() < sizeof MPIR_dll_name) std::memcpy(MPIR_dll_name, path.c_str(), path.size() + 1);
    wire::QueueLayout& q = zipmpi_message_queues;
    describe_operation(q);
    describe_message(q);
    describe_comm(q);
    proto::ProgressEngine& engine = progress_engine();
    const proto::Matcher::Places queues = engine.receiver().matcher().places();
    q.exact = address(queues.exact);
    q.posted = address(queues.posted);
    q.unexpected = address(queues.unexpected);
    q.in_flight = address(engine.sender().operations().slots());
    q.slot_bytes = proto::OperationTable::slot_bytes;
    q.comms = address(comm_chunks());
    std::memcpy(q.version, wire::queue_layout_version, sizeof q.version);
}

} // namespace zipmpi::core
