// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/request_executor.hpp"

#include "proto/rma/attached_ranges.hpp"
#include "proto/rma/batch_reply.hpp"

namespace zipmpi::proto::rma {
namespace {

bool has_reply(wire::RmaKind kind) {
    return kind == wire::RmaKind::get || kind == wire::RmaKind::get_accumulate ||
           kind == wire::RmaKind::compare_and_swap;
}

} // namespace

void RequestExecutor::execute(const wire::RmaRequest& head, const std::byte* rest, BatchReply& reply) {
    const std::byte* const data = rest + head.extra_segments * sizeof(wire::RmaSegment);
    const bool good = head.kind <= wire::RmaKind::compare_and_swap && read_segments(head, rest) &&
                      access(head, data, reply);
    if (good) return;
    has_reply(head.kind) ? reply.add_refusal(head.id, wire::RmaRefusal::out_of_window)
                         : reply.count_refusal();
}

bool RequestExecutor::read_segments(const wire::RmaRequest& head, const std::byte* rest) {
    iov_.clear();
    iov_bytes_ = 0;
    bool good = add_segment(head.segment);
    for (uint32_t i = 0; good && i < head.extra_segments; ++i) {
        wire::RmaSegment p{};
        std::memcpy(&p, rest + i * sizeof p, sizeof p);
        good = add_segment(p);
    }
    return good;
}

// Validates and adds a segment of the local region.
bool RequestExecutor::add_segment(const wire::RmaSegment& p) {
    const Region& own = targets_.own_region();
    const bool inside = own.is_dynamic() ? attached_.contains(p.offset, p.bytes)
                                         : p.offset <= own.size && p.bytes <= own.size - p.offset;
    if (!inside || p.bytes > wire::rma_message_bytes - iov_bytes_) return false;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): checked
    iov_.push_back({reinterpret_cast<void*>(own.base + p.offset), p.bytes});
    iov_bytes_ += p.bytes;
    return true;
}

bool RequestExecutor::access(const wire::RmaRequest& head, const std::byte* data, BatchReply& reply) {
    if (head.kind == wire::RmaKind::put) {
        if (head.data_bytes != iov_bytes_) return false;
        unpack_iov(iov_.data(), iov_.size(), data);
        return true;
    }
    if (!has_reply(head.kind)) return accumulate(head, data, nullptr);
    std::byte* const fetched = reply.add(head.id, iov_bytes_);
    if (fetched == nullptr) return false;
    if (head.kind == wire::RmaKind::get) {
        pack_iov(iov_.data(), iov_.size(), fetched);
        return true;
    }
    const bool good = head.kind == wire::RmaKind::get_accumulate ? accumulate(head, data, fetched)
                                                                 : swap(head, data, fetched);
    if (!good) reply.remove(fetched); // the caller adds a refusal instead
    return good;
}

bool RequestExecutor::swap(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched) {
    CompareSwapOp swap;
    if (iov_.size() != 1 || !decoder_.decode_swap(head.op, swap) || iov_bytes_ != swap.bytes ||
        head.data_bytes != 2 * uint64_t{swap.bytes})
        return false;
    swap_element(swap, static_cast<std::byte*>(iov_[0].iov_base), data, data + swap.bytes, fetched,
                 targets_.guard_for_requests());
    return true;
}

bool RequestExecutor::accumulate(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched) {
    AccumulateOp c;
    if (!decoder_.decode_accumulate(head.op, c) || (c.writes() && head.data_bytes != iov_bytes_) ||
        iov_bytes_ % c.element_bytes != 0)
        return false;
    const bool by_elements = c.layout == nullptr && (c.kind == AccumulateOp::Kind::combine || c.cpu_atomic);
    for (size_t i = 0; i < iov_.size() && by_elements; ++i)
        if (iov_[i].iov_len % c.element_bytes != 0) return false;
    accumulate_iov(c, iov_.data(), iov_.size(), c.writes() ? data : nullptr, fetched,
                   targets_.guard_for_requests(), scratch_);
    return true;
}

} // namespace zipmpi::proto::rma
