// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel-assisted copy: a receiver takes a large message straight out of the sender's buffer. Whether the
// kernel allows it is found out by trying: before the first copy from a peer a number is read from its memory
// and compared with what the peer has written into the node segment, so that a process of the same pid in
// another namespace is not mistaken for it. A pair that is refused, at first or later, goes on without;
// permission may differ between the two directions.
#pragma once

#include "boot/node_segment.hpp"
#include "transport/concept.hpp"

#include <sys/uio.h>
#include <vector>

namespace zipmpi::transport::kcopy {

class Reader {
  public:
    Reader(const boot::NodeSegment& segment, uint32_t self);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Copies from a peer's memory. False: not possible for this pair (any more), nothing usable was copied.
    bool read(Peer from, uint64_t address, std::byte* to, size_t bytes);
    // The same into several pieces that have room for `bytes` bytes.
    bool read(Peer from, uint64_t address, const iovec* pieces, size_t count, size_t bytes);
    // And out of several pieces, which have as many bytes.
    bool read(Peer from, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
              size_t bytes);
    [[nodiscard]] bool works_with(Peer from);
    // Into a peer's memory, less than 2 GiB. False: not possible (any more), some bytes may be written all
    // the same.
    bool write(Peer to, uint64_t address, const std::byte* from, size_t bytes);
    bool write(Peer to, const iovec* there, size_t count_there, const iovec* here, size_t count_here,
               size_t bytes);
    [[nodiscard]] bool writes_to(Peer to); // sets errno if not

    // For memory of a peer that may not be what the program says. Pieces here and there hold the same bytes,
    // less than 2 GiB; up to 1024 each.
    enum class Result { copied, refused, no_such_memory };
    Result read_pieces(Peer from, const iovec* here, size_t here_count, const iovec* there,
                       size_t there_count, size_t bytes);
    Result write_pieces(Peer to, const iovec* here, size_t here_count, const iovec* there, size_t there_count,
                        size_t bytes);
    // Found out by asking the kernel, before the first copy.
    [[nodiscard]] bool reads_and_writes(Peer peer);

  private:
    enum class State : uint8_t { unknown, works, refused };
    bool probe(Peer from) const;
    bool still_works(Peer from, bool copied);

    const boot::NodeSegment& segment_;
    uint64_t own_number_; // peers read it to see whether they can
    std::vector<State> states_;
    bool writes_refused_ =
        false; // to whom reading is allowed writing is, too, unless the call is filtered out
};

} // namespace zipmpi::transport::kcopy
