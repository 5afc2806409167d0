// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Single-copy collectives for large data: ranks publish addresses in a collective buffer, and peers access
// them by CMA. Used only if every rank can read from every other one, which is probed once per team.
#pragma once

#include "proto/coll/shm/shm.hpp"

namespace zipmpi::proto::coll::shm {

// The collective buffer for publishing addresses; null if CMA is not possible between all members.
CollBuffer* coll_buffer_for_cma(Collective& c, Team& t);
size_t min_cma_bytes(); // parameter coll.cma_min

class PeerMemory {
  public:
    PeerMemory(CollBuffer& buffer, ProgressEngine& engine, const CollSignature& call)
        : buffer_(buffer)
        , engine_(engine)
        , signature_(call) {}

    // Publishes the address that others read from and, optionally, one they may write to. Addresses of the
    // members are valid until the next call.
    void publish(const void* address, void* written = nullptr);
    // Waits until all members have finished reading.
    void finish() { buffer_.sync(buffer_.begin(Leave::together, signature_)); }
    // Variants of publish() and finish() for one reading member.
    void publish_to(int member, const void* address);
    void finish_for(int member);
    // Copies from the published address of `member`, plus offset.
    void read(int member, size_t offset, std::byte* to, size_t bytes);
    // Copies to the writable address that `member` published, plus offset.
    void write(int member, size_t offset, const std::byte* from, size_t bytes);
    [[nodiscard]] bool failed() const { return failed_; }

  private:
    struct Addresses {
        uint64_t read;
        uint64_t written;
    };
    void record_failure();
    void store_addresses(const void* address, const void* written);
    [[nodiscard]] Addresses addresses_of(int member) const;

    CollBuffer& buffer_;
    ProgressEngine& engine_;
    CollSignature signature_;
    uint32_t op_ = 0;
    bool failed_ = false;
};

[[gnu::cold]] Err cma_denied_error();

} // namespace zipmpi::proto::coll::shm
