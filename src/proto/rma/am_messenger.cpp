// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/am_messenger.hpp"

#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto::rma {
namespace {

// An outgoing message; deletes itself on completion.
struct AmSend : Operation {
    Bytes data;
};

template <class Head>
Bytes make_message(const Head& head, const void* rest = nullptr, size_t bytes = 0) {
    Bytes message(sizeof head + bytes);
    std::memcpy(message.data(), &head, sizeof head);
    if (bytes != 0) std::memcpy(message.data() + sizeof head, rest, bytes);
    return message;
}

} // namespace

void AmMessenger::send(int to, int tag, Bytes message) {
    auto* const out = new AmSend;
    out->data = std::move(message);
    set_send(*out, team_, out->data.data(), out->data.size(), to, tag);
    out->on_done = [](Operation& op) { delete static_cast<AmSend*>(&op); };
    team_.engine->start_send(*out);
}

void AmMessenger::send_post(int origin) {
    send(origin, batch_tag, make_message(wire::RmaBatch{0, epoch_, wire::rma_posts, 0}));
}

void AmMessenger::send_out_of_band(int target, wire::RmaKind kind) {
    const wire::RmaRequest request{kind, 0, 0, 0, 0, 0, {}};
    send(target, batch_tag,
         make_message(wire::RmaBatch{0, 0, wire::rma_out_of_band, 0}, &request, sizeof request));
}

void AmMessenger::request_connection(int target, std::string_view text) {
    send(target, batch_tag,
         make_message(wire::RmaBatch{0, epoch_, wire::rma_connects, 0}, text.data(), text.size()));
}

void AmMessenger::answer_connection(int origin, std::string_view text) {
    send(origin, reply_tag,
         make_message(wire::RmaBatchReply{0, 0, wire::rma_connected, 0}, text.data(), text.size()));
}

} // namespace zipmpi::proto::rma
