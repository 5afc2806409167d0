// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast: the root writes, all others read. Small data takes one slot of the root with its flag. Large
// data is pipelined through all slots of the large buffer, so that readers follow the writer; each byte is
// copied in once and out once per reader.
#include "base/param.hpp"
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> pipeline_chunk_bytes{"coll.shm_bcast_segment",
                                    32 * KiB,
                                    {64, 1 * GiB},
                                    Unit::bytes,
                                    Level::tuner,
                                    Scope::job_wide,
                                    "pipeline segment of large broadcasts in shared memory"};

struct BcastTask {
    CollBuffer* buffer;
    std::byte* data;
    size_t bytes;
    int root;
    CollSignature signature;

    void run() const {
        if (bytes <= buffer->slot_capacity())
            run_small();
        else
            run_large();
    }

    void run_small() const {
        const uint32_t op = buffer->begin(Leave::early, signature);
        if (buffer->self() == root) {
            std::memcpy(buffer->slot(op, root), data, bytes);
            buffer->set_flag(op);
        } else {
            buffer->wait_flag(op, root);
            std::memcpy(data, buffer->slot(op, root), bytes);
        }
    }

    void run_large() const {
        const size_t chunk = buffer->uses_flags() ? std::min(buffer->slot_capacity(),
                                                             static_cast<size_t>(pipeline_chunk_bytes.get()))
                                                  : buffer->slot_capacity();
        for (size_t done = 0; done < bytes;) {
            const uint32_t op = buffer->begin(Leave::early, signature);
            for (int i = 0; i < buffer->members() && done < bytes; ++i) {
                const size_t n = std::min(chunk, bytes - done);
                if (buffer->self() == root) {
                    std::memcpy(buffer->slot(op, i), data + done, n);
                    buffer->set_flag_for(op, i);
                } else {
                    buffer->wait_filled(op, i, root);
                    std::memcpy(data + done, buffer->slot(op, i), n);
                }
                done += n;
            }
        }
    }
};

} // namespace

bool broadcast(Collective& c, Team& t, void* data, size_t bytes, int root) {
    CollBuffer* buffer = coll_buffer_for(c, t, bytes);
    return buffer != nullptr && run_task(c, BcastTask{buffer,
                                                      static_cast<std::byte*>(data),
                                                      bytes,
                                                      root,
                                                      {c.sequence(), CollKind::broadcast, bytes, root}});
}

} // namespace zipmpi::proto::coll::shm
