// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations cut into requests.
#include "proto/rma/messages.hpp"
#include "proto/rma/pieces.hpp"

namespace zipmpi::proto::rma {
namespace {

// A request, behind one for a lock, and its reply fit into a batch and an answer of their own.
constexpr uint64_t head_bytes =
    sizeof(wire::RmaBatch) + 2 * sizeof(wire::RmaRequest) + wire::rma_request_pieces * sizeof(wire::RmaPiece);

} // namespace

Err Window::no_memory_for_requests() {
    return fail(Err::no_mem, "complete operations before starting more",
                "no memory for another one-sided operation");
}

Err Window::send_requests(int rank, wire::RmaKind kind, const Combine* c, const Data& here, const Data& there,
                          const Data& result, const Maker& maker) {
    const bool sends = kind != wire::RmaKind::get && (c == nullptr || c->writes());
    const bool fetches = kind == wire::RmaKind::get || kind == wire::RmaKind::get_accumulate;
    Exchange* const exchange = fetches ? maker.make(maker.maker) : nullptr;
    if (fetches && exchange == nullptr) return no_memory_for_requests();
    if (fetches) exchange->result = result;
    Messages::Link& link = messages_->link(rank);
    const Cut cut{link.longest_batch - head_bytes, c != nullptr ? c->element_bytes : 1,
                  wire::rma_request_pieces};
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, cut);
        messages_->add(link, {kind, c != nullptr ? c->code : 0, chunk.pieces, chunk.count, here, chunk.from,
                              sends ? chunk.bytes : 0, exchange, chunk.from, fetches ? chunk.bytes : 0});
    }
    if (fetches && maker.at_once) messages_->push(link, false);
    if (fetches) exchange->part_done();
    return Err::success;
}

Err Window::send_swap(int rank, const Swap& s, const void* compare, const void* value, void* fetched,
                      std::byte* there, const Maker& maker) {
    Exchange* const exchange = maker.make(maker.maker);
    if (exchange == nullptr) return no_memory_for_requests();
    exchange->result = {static_cast<std::byte*>(fetched), nullptr, 0, s.bytes};
    std::byte both[32];
    std::memcpy(both, compare, s.bytes);
    std::memcpy(both + s.bytes, value, s.bytes);
    const iovec piece{there, s.bytes};
    const uint64_t sent = 2 * uint64_t{s.bytes};
    messages_->add(messages_->link(rank), {wire::RmaKind::compare_and_swap, s.code, &piece, 1,
                                           Data{both, nullptr, 0, sent}, 0, sent, exchange, 0, s.bytes});
    exchange->part_done();
    return Err::success;
}

} // namespace zipmpi::proto::rma
