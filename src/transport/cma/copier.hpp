// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cross-memory attach (CMA): a receiver copies a large message directly out of the sender's buffer.
// Permission is probed: before the first copy from a peer, a cookie is read from its memory and compared with
// the value in the node segment, so that a process with the same pid in another namespace is not mistaken for
// the peer. A pair that is refused, at first or later, uses other paths; permission may differ between the
// two directions.
#pragma once

#include "os/lazy_table.hpp"
#include "segment/node_segment.hpp"
#include "transport/transport.hpp"

#include <sys/uio.h>

namespace zipmpi::transport::cma {

class Copier {
  public:
    Copier(const segment::NodeSegment& segment, uint32_t self);
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;

    // Copies from a peer's memory. Returns false if CMA is not, or no longer, possible for this pair; then
    // nothing usable was copied.
    bool read(Peer from, uint64_t address, std::byte* to, size_t bytes);
    // Copies into several segments with room for `bytes` bytes.
    bool read(Peer from, uint64_t address, const iovec* iov, size_t count, size_t bytes);
    // Copies from several segments into several segments of equal total size.
    bool read(Peer from, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
              size_t bytes);
    [[nodiscard]] bool can_read(Peer from);
    // Copies less than 2 GiB into a peer's memory. Returns false if CMA is not, or no longer, possible; some
    // bytes may have been written.
    bool write(Peer to, uint64_t address, const std::byte* from, size_t bytes);
    bool write(Peer to, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
               size_t bytes);
    [[nodiscard]] bool can_write(Peer to); // sets errno if not

    // For peer addresses given by the application, which may be invalid. Local and remote segments have the
    // same total size, less than 2 GiB, and at most 1024 entries each.
    enum class Result { copied, refused, no_such_memory };
    Result readv(Peer from, const iovec* here, size_t here_count, const iovec* there, size_t there_count,
                 size_t bytes);
    Result writev(Peer to, const iovec* here, size_t here_count, const iovec* there, size_t there_count,
                  size_t bytes);
    // Probes the kernel before the first copy.
    [[nodiscard]] bool can_read_and_write(Peer peer);

  private:
    enum class State : uint8_t { unknown, allowed, refused };
    bool probe(Peer from) const;
    bool record_result(Peer from, bool copied);

    const segment::NodeSegment& segment_;
    uint64_t cookie_;             // read by peers to probe permission
    os::LazyTable<State> states_; // by peer
    // A peer that may be read may also be written, unless a seccomp filter blocks process_vm_writev.
    bool writes_refused_ = false;
};

} // namespace zipmpi::transport::cma
