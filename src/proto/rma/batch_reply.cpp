// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/batch_reply.hpp"

#include <cstring>

namespace zipmpi::proto::rma {

std::byte* BatchReply::append(const wire::RmaReply& reply) {
    const uint64_t reply_bytes = sizeof reply + wire::rma_padded(reply.bytes);
    if (reply_bytes > wire::rma_message_bytes - sizeof(wire::RmaBatchReply)) return nullptr;
    if (!bytes_.empty() && bytes_.size() + reply_bytes > wire::rma_message_bytes) send();
    if (bytes_.empty()) bytes_.resize(sizeof(wire::RmaBatchReply));
    const size_t at = bytes_.size();
    bytes_.resize(at + reply_bytes);
    std::memcpy(bytes_.data() + at, &reply, sizeof reply);
    return bytes_.data() + at + sizeof reply;
}

std::byte* BatchReply::add(uint32_t id, uint64_t bytes) {
    return append({id, wire::RmaRefusal::none, bytes});
}

void BatchReply::add_refusal(uint32_t id, wire::RmaRefusal why) { append({id, why, 0}); }

void BatchReply::remove(const std::byte* data) {
    bytes_.resize(static_cast<size_t>(data - bytes_.data()) - sizeof(wire::RmaReply));
}

void BatchReply::send() {
    if (bytes_.empty()) bytes_.resize(sizeof(wire::RmaBatchReply));
    const wire::RmaBatchReply head{served_, std::exchange(refused_, 0), std::exchange(flags_, 0), 0};
    std::memcpy(bytes_.data(), &head, sizeof head);
    messenger_.send_batch_reply(origin_, std::exchange(bytes_, {}));
}

} // namespace zipmpi::proto::rma
