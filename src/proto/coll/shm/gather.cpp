// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Gather and scatter in chunks of one slot: every rank writes its block and the root reads, or vice versa.
#include "proto/coll/shm/shm.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

struct GatherTask {
    CollBuffer* buffer;
    const std::byte* input;
    std::byte* all;
    size_t block;
    int root;
    CollSignature signature;

    void run() const {
        for (size_t from = 0; from < block; from += buffer->slot_capacity()) {
            const size_t n = std::min(buffer->slot_capacity(), block - from);
            const uint32_t k = buffer->begin(Leave::early, signature);
            if (buffer->self() != root) std::memcpy(buffer->slot(k, buffer->self()), input + from, n);
            buffer->self() == root ? buffer->arrive_and_wait(k) : buffer->arrive_and_leave(k);
            for (int r = 0; r < buffer->members() && buffer->self() == root; ++r)
                if (r != root)
                    std::memcpy(all + static_cast<size_t>(r) * block + from, buffer->slot(k, r), n);
        }
    }
};

struct ScatterTask {
    CollBuffer* buffer;
    const std::byte* all;
    std::byte* output;
    size_t block;
    int root;
    CollSignature signature;

    void run() const {
        for (size_t from = 0; from < block; from += buffer->slot_capacity()) {
            const size_t n = std::min(buffer->slot_capacity(), block - from);
            const uint32_t k = buffer->begin(Leave::early, signature);
            if (buffer->self() != root) {
                buffer->wait_filled(k, buffer->self(), root);
                std::memcpy(output + from, buffer->slot(k, buffer->self()), n);
                continue;
            }
            for (int r = 0; r < buffer->members(); ++r) {
                if (r == root) continue;
                std::memcpy(buffer->slot(k, r), all + static_cast<size_t>(r) * block + from, n);
                buffer->mark_filled(k, r);
            }
            buffer->set_flag(k);
        }
    }
};

} // namespace

bool gather(Collective& c, Team& t, const void* input, void* all, size_t block, int root) {
    CollBuffer* buffer = coll_buffer_for(c, t, block);
    return buffer != nullptr && run_task(c, GatherTask{buffer,
                                                       static_cast<const std::byte*>(input),
                                                       static_cast<std::byte*>(all),
                                                       block,
                                                       root,
                                                       {c.sequence(), CollKind::gather, block, root}});
}

bool scatter(Collective& c, Team& t, const void* all, void* output, size_t block, int root) {
    CollBuffer* buffer = coll_buffer_for(c, t, block);
    return buffer != nullptr && run_task(c, ScatterTask{buffer,
                                                        static_cast<const std::byte*>(all),
                                                        static_cast<std::byte*>(output),
                                                        block,
                                                        root,
                                                        {c.sequence(), CollKind::scatter, block, root}});
}

} // namespace zipmpi::proto::coll::shm
