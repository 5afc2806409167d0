// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where a message lies in the memory of another process, in one piece or with gaps, so that the kernel can
// copy between there and here. A side with gaps describes its layout; descriptions are compared with those
// that came before, so that only a new one is made into a program.
#pragma once

#include "layout/program.hpp"
#include "proto/p2p/operation.hpp"

#include <sys/uio.h>
#include <vector>

namespace zipmpi::proto {

struct PeerPlace {
    uint64_t address = 0;
    layout::ProgramPtr layout; // null: one piece
    int64_t elements = 0;      // the rest as in Operation
    uint64_t first_byte = 0;
};

// What is sent of an operation with gaps: two numbers, and its layout.
struct PlaceNote {
    static constexpr size_t most = 256;
    int64_t numbers[most];
    size_t used = 0; // 0: it is too long to be described

    explicit PlaceNote(const Operation& op);
    [[nodiscard]] size_t bytes() const { return used * sizeof(int64_t); }
    [[nodiscard]] const std::byte* data() const { return reinterpret_cast<const std::byte*>(numbers); }
};

class PeerPlaces {
  public:
    // Fills in what a note says about so many bytes of a message. False: it makes no sense.
    bool read(const std::byte* note, size_t note_bytes, uint64_t bytes, PeerPlace& place);

  private:
    [[nodiscard]] layout::ProgramPtr program(const int64_t* numbers, size_t count);

    struct Known {
        std::vector<int64_t> numbers;
        layout::ProgramPtr program;
    };
    static constexpr size_t most_known = 16;
    std::vector<Known> known_;
    size_t oldest_ = 0;
};

// The same bytes of a message, here and there.
class PiecePairs {
  public:
    PiecePairs(const Operation& here, const PeerPlace& there, uint64_t from, uint64_t bytes)
        : here_(here)
        , there_(there)
        , from_(from)
        , end_(from + bytes) {}

    // Lists the next of them. False: that was all.
    bool next();
    [[nodiscard]] const iovec* local() const { return local_; }
    [[nodiscard]] const iovec* remote() const { return remote_; }
    [[nodiscard]] size_t locals() const { return locals_; }
    [[nodiscard]] size_t remotes() const { return remotes_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

  private:
    static constexpr size_t room = 128;
    const Operation& here_;
    const PeerPlace& there_;
    uint64_t from_;
    uint64_t end_;
    uint64_t bytes_ = 0;
    size_t locals_ = 0;
    size_t remotes_ = 0;
    iovec local_[room];
    iovec remote_[room];
};

} // namespace zipmpi::proto
