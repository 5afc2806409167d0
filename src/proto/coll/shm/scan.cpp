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
    bool exclusive;
    CollSignature signature;

    void run() const {
        const uint32_t k = buffer->begin(false, signature);
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
        if (!exclusive)
            std::memcpy(result, buffer->slot(k, self), op->bytes());
        else if (self > 0)
            std::memcpy(result, buffer->slot(k, self - 1), op->bytes());
    }
};

} // namespace

bool scan(Schedule& s, Team& t, const void* input, void* result, bool exclusive) {
    CollBuffer* buffer = coll_buffer_for(s, t, s.op().bytes());
    return buffer != nullptr && s.op().bytes() <= buffer->slot_capacity() &&
           run_task(s, ScanTask{buffer,
                                &s.op(),
                                static_cast<const std::byte*>(input),
                                static_cast<std::byte*>(result),
                                exclusive,
                                {s.sequence(), CollKind::scan, s.op().bytes()}});
}

} // namespace zipmpi::proto::coll::shm
