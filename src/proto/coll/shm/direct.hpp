// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Large collectives without a copy in between: a rank tells the others where its bytes are, and they read
// them there through the kernel. Only if every rank may read from every other; that is found out once per
// team.
#pragma once

#include "proto/coll/shm/shm.hpp"

namespace zipmpi::proto::coll::shm {

// A board over which members tell each other addresses, if direct reading is allowed and there are at least
// so many bytes; else null.
Board* board_for_direct(Schedule& s, Team& t, size_t bytes, size_t least);
size_t least_direct(); // as the knob coll.direct_min says

class Direct {
  public:
    Direct(Board& board, Lane& lane, const Call& call)
        : board_(board)
        , lane_(lane)
        , call_(call) {}

    // Everybody tells where to read, and may tell where to write; those of others are known until the next
    // call.
    void tell(const void* address, void* written = nullptr);
    // Nobody reads any more.
    void end() { board_.gate(board_.begin(false, call_)); }
    // The same where only one member reads.
    void tell_to(int member, const void* address);
    void end_by(int member);
    // Copies from where that member said, from an offset on.
    void read(int member, size_t offset, std::byte* to, size_t bytes);
    // Copies to where that member said that it may be written.
    void write(int member, size_t offset, const std::byte* from, size_t bytes);
    [[nodiscard]] bool failed() const { return failed_; }

  private:
    struct Addresses {
        uint64_t read;
        uint64_t written;
    };
    void note_failure();
    void put(const void* address, const void* written);
    [[nodiscard]] Addresses addresses(int member) const;

    Board& board_;
    Lane& lane_;
    Call call_;
    uint32_t op_ = 0;
    bool failed_ = false;
};

[[gnu::cold]] Err kernel_refused();

} // namespace zipmpi::proto::coll::shm
