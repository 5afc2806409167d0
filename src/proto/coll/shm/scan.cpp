// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Scan of small contributions: the last rank to arrive combines each slot into the next one, from rank 0.
#include "proto/coll/shm/shm.hpp"

#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

struct ScanTask {
    CollBuffer* buffer;
    const ReduceOp* op;
    const std::byte* input;
    std::byte* result;
    ScanKind kind;
    CollSignature signature;

    void run() const {
        const uint32_t k = buffer->begin(Leave::together, signature);
        const int self = buffer->self();
        std::memcpy(buffer->slot(k, self), input, op->bytes());
        if (buffer->arrive(k)) {
            for (int r = 1; r < buffer->members(); ++r)
                (*op)(buffer->slot(k, r - 1), buffer->slot(k, r), op->count);
            buffer->release(k);
        } else {
            buffer->wait_release(k);
        }
        buffer->set_all_arrived(k);
        if (kind == ScanKind::inclusive)
            std::memcpy(result, buffer->slot(k, self), op->bytes());
        else if (self > 0)
            std::memcpy(result, buffer->slot(k, self - 1), op->bytes());
    }
};

} // namespace

bool can_scan(const SelectionInput& in) {
    return in.size.bytes <= slot_capacity_for(in.ranks, in.size.bytes);
}

bool scan(Collective& c, Team& t, const void* input, void* result, ScanKind kind) {
    const ReduceOp& op = c.schedule().op();
    CollBuffer* buffer = coll_buffer_for(c, t, op.bytes());
    return buffer != nullptr && run_task(c, ScanTask{buffer,
                                                     &op,
                                                     static_cast<const std::byte*>(input),
                                                     static_cast<std::byte*>(result),
                                                     kind,
                                                     {c.sequence(), CollKind::scan, op.bytes()}});
}

} // namespace zipmpi::proto::coll::shm
