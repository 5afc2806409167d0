// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Short messages of non-blocking sends that follow each other share one message of UCX: over TCP each of
// those is a system call, which takes longer than a short message itself. The first few of a burst go at
// once; the others when the batch is full, something else goes to the same peer, or the rank comes back to
// make progress, which it has to before it can know that any of them is sent.
#include "transport/ucx/engine.hpp"
#include "transport/ucx/header.hpp"

#include <cstring>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint32_t at_once = 3; // messages to one peer between two looks at the network
constexpr size_t longest_in_batch = 4U << 10;
constexpr size_t most_batches = 64; // that UCX has not finished with: who sends more waits for the network

} // namespace

bool Engine::may_wait(Known& to, const Memory& data) {
    if (to.look != look_) to.since_look = 0;
    to.look = look_;
    return ++to.since_look > at_once && data.bytes <= longest_in_batch && batches_ < most_batches &&
           !to.lost && to.pass != 0;
}

Posted Engine::send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                         const Memory& data) {
    Known& to = peers_[peer];
    if (!may_wait(to, data)) return send(peer, envelope, payload, data);
    const wire::NetHeader h{to.pass, to.sent + 1, envelope};
    const size_t bytes = sizeof(wire::BatchEntry) + sizeof h + envelope.inline_bytes + data.bytes;
    if (to.batch != nullptr && to.batch->used + bytes > batch_bytes) send_batch(to);
    if (to.batch == nullptr) {
        to.batch = &new_batch();
        waiting_batches_.push_back(peer);
    }
    Sending& batch = *to.batch;
    const wire::BatchEntry entry{static_cast<uint32_t>(data.bytes)};
    std::byte* at = batch.gaps.packed.data() + batch.used;
    const auto append = [&at](const void* from, size_t n) {
        std::memcpy(at, from, n);
        at += n;
    };
    append(&entry, sizeof entry);
    append(&h, sizeof h);
    if (envelope.inline_bytes != 0) append(payload, envelope.inline_bytes);
    if (data.bytes != 0 && data.at == nullptr) sink_.load(data.operation, 0, at, data.bytes);
    if (data.bytes != 0 && data.at != nullptr) append(data.at, data.bytes);
    batch.used += bytes;
    batch.riders.push_back(data.operation);
    ++to.sent;
    return Posted::under_way;
}

Engine::Sending& Engine::new_batch() {
    Sending& s = take_sending();
    s.gaps.packed = take_room(batch_bytes);
    s.used = 0;
    ++batches_;
    return s;
}

// Who rides in it has been copied: its memory is free as soon as the batch is on its way.
void Engine::send_batch(Known& to) {
    Sending& s = *std::exchange(to.batch, nullptr);
    const ucp_request_param_t param = asking_for(s, UCP_AM_SEND_FLAG_EAGER);
    std::vector<void*> riders = std::exchange(s.riders, std::move(spare_riders_));
    void* request = to.lost ? UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET)
                            : ucp_am_send_nbx(to.endpoint, wire::net_batch, nullptr, 0, s.gaps.packed.data(),
                                              s.used, &param);
    if (!UCS_PTR_IS_PTR(request)) give_back(s);
    if (UCS_PTR_IS_ERR(request)) lose(to, ucs_status_string(UCS_PTR_STATUS(request)));
    const Outcome outcome = UCS_PTR_IS_ERR(request) ? Outcome::failed : Outcome::done;
    for (void* operation : riders) sink_.sent(sink_.subject, operation, outcome);
    happened_ += static_cast<int>(riders.size());
    riders.clear();
    spare_riders_ = std::move(riders);
}

void Engine::send_batches() {
    while (!waiting_batches_.empty()) { // who rides may send again when it is done
        Known& to = peers_[waiting_batches_.back()];
        waiting_batches_.pop_back();
        if (to.batch != nullptr) send_batch(to);
    }
}

ucs_status_t Engine::on_batch(void* self, const void*, size_t, void* data, size_t length,
                              const ucp_am_recv_param_t* param) {
    Engine* const engine = with_data(self, param);
    if (engine == nullptr) return UCS_OK;
    std::span<const std::byte> rest(static_cast<const std::byte*>(data), length);
    while (!rest.empty()) {
        std::span<const std::byte> header;
        std::span<const std::byte> bytes;
        if (!next_in_batch(rest, header, bytes)) {
            ++engine->strangers_;
            break;
        }
        engine->take(header, bytes, nullptr);
    }
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
