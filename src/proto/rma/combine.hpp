// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How an accumulate changes the elements of a window, and doing it to memory that lies in pieces.
//
// Two ways keep elements whole when several origins change them: instructions of the CPU, or the `combining`
// word of the target. Which one is used depends on the window's memory, the type and the address alone, so
// that all origins that can meet at an element use the same.
#pragma once

#include "layout/program.hpp"
#include "proto/rma/lock.hpp"

#include <vector>

namespace zipmpi::proto::rma {

struct Combine {
    enum class Kind : uint8_t { combine, replace, fetch_only };
    Kind kind = Kind::combine;
    bool by_cpu = false; // the type is one that the CPU changes in one step
    bool adds = false;   // MPI_SUM
    uint32_t code = 0;   // by which a peer finds the same
    uint32_t element_bytes = 1;
    uint32_t alignment = 1;
    const layout::Program* gaps = nullptr; // of one element in memory; null: without gaps
    // inout[i] = in[i] op inout[i]; null unless combine
    void (*apply)(const void* in, void* inout, int64_t count) = nullptr;
    // With by_cpu: the same, or replace or fetch_only, by the CPU in one step per element. fetched may be
    // null.
    void (*step)(const void* in, void* inout, void* fetched, int64_t count) = nullptr;

    [[nodiscard]] bool writes() const { return kind != Kind::fetch_only; }
};

// Elements of the same size are compared, not combined.
struct Swap {
    uint32_t bytes = 0;
    bool by_cpu = false;
    uint32_t code = 0;
};

// Memory that is used again and again.
class Scratch {
  public:
    std::byte* get(int which, uint64_t bytes) {
        std::vector<std::byte>& v = buffers_[which];
        if (v.size() < bytes) v.resize(bytes);
        return v.data();
    }

  private:
    std::vector<std::byte> buffers_[4];
};

// Who else may be at the elements.
struct Guard {
    std::atomic<uint32_t>* word; // the target's; null: nobody
    bool by_cpu;                 // the memory is such that all origins reach it directly
};

inline void gather(const iovec* pieces, size_t count, std::byte* out) {
    for (size_t i = 0; i < count; out += pieces[i++].iov_len)
        std::memcpy(out, pieces[i].iov_base, pieces[i].iov_len);
}
inline void scatter(const iovec* pieces, size_t count, const std::byte* in) {
    for (size_t i = 0; i < count; in += pieces[i++].iov_len)
        std::memcpy(pieces[i].iov_base, in, pieces[i].iov_len);
}

// Packed elements, inout changed by in.
void combine_packed(const Combine& c, const std::byte* in, std::byte* inout, uint64_t bytes,
                    Scratch& scratch);

// Elements in memory. fetched gets what was there before, packed; may be null. `in` is not looked at by
// fetch_only.
void combine_pieces(const Combine& c, const iovec* pieces, size_t count, const std::byte* in,
                    std::byte* fetched, const Guard& guard, Scratch& scratch);

// The same for one piece, without memory of its own and so without the lane's lock. False: not aligned, or
// elements with gaps.
bool combine_row(const Combine& c, const iovec& row, const std::byte* in, std::byte* fetched,
                 const Guard& guard);

// One element in memory: stores `value` if it equals `compare`; fetched gets what was there.
void swap_element(const Swap& s, std::byte* at, const void* compare, const void* value, void* fetched,
                  const Guard& guard);

} // namespace zipmpi::proto::rma
