// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulate operations on the elements of a window, in contiguous or noncontiguous memory.
//
// Concurrent updates are atomic by CPU atomics or by the target's `accumulate_lock`. The choice depends only
// on the window's memory, the type and the address, so that all origins of an element use the same method.
#pragma once

#include "packing/layout.hpp"
#include "proto/rma/lock.hpp"

#include <optional>
#include <vector>

namespace zipmpi::proto::rma {

struct AccumulateOp {
    enum class Kind : uint8_t { combine, replace, fetch_only };
    Kind kind = Kind::combine;
    bool cpu_atomic = false; // the CPU can update the type atomically
    bool is_sum = false;     // MPI_SUM
    uint32_t code = 0;       // identifies the operation to a peer
    uint32_t element_bytes = 1;
    uint32_t alignment = 1;
    const packing::Layout* layout = nullptr; // of one element in memory; null: contiguous
    // inout[i] = in[i] op inout[i]; null unless combine
    void (*apply)(const void* in, void* inout, int64_t count) = nullptr;
    // with cpu_atomic: combine, replace or fetch_only, atomic per element; fetched may be null
    void (*atomic_apply)(const void* in, void* inout, void* fetched, int64_t count) = nullptr;

    [[nodiscard]] bool writes() const { return kind != Kind::fetch_only; }
};

// Compare-and-swap of one element.
struct CompareSwapOp {
    uint32_t bytes = 0;
    bool cpu_atomic = false;
    uint32_t code = 0;
};

// Decodes the operation codes of peers.
struct OpDecoder {
    bool (*decode_accumulate)(uint32_t code, AccumulateOp& c);
    bool (*decode_swap)(uint32_t code, CompareSwapOp& s);
};

// Reusable scratch buffers.
class ScratchBuffers {
  public:
    static constexpr int packed_origin = 3; // the others are used by the functions below
    std::byte* get(int which, uint64_t bytes) {
        std::vector<std::byte>& v = buffers_[which];
        if (v.size() < bytes) v.resize(bytes);
        return v.data();
    }

  private:
    std::vector<std::byte> buffers_[4];
};

// Serializes concurrent accumulates on the target.
struct AccumulateGuard {
    std::atomic<uint32_t>* lock_word; // the target's accumulate_lock; null: no concurrent access
    const SpinGuard::Holder* holder;  // this rank
    bool cpu_atomic;                  // all origins map the memory, so CPU atomics are allowed

    // Holds the lock from the first call on, if there is one.
    void enter(std::optional<SpinGuard>& held) const {
        if (lock_word != nullptr && !held) held.emplace(*lock_word, *holder);
    }
};

// Empty segments, which may have no address, are skipped.
inline void pack_iov(const iovec* iov, size_t count, std::byte* out) {
    for (size_t i = 0; i < count; out += iov[i++].iov_len)
        if (iov[i].iov_len != 0) std::memcpy(out, iov[i].iov_base, iov[i].iov_len);
}
inline void unpack_iov(const iovec* iov, size_t count, const std::byte* in) {
    for (size_t i = 0; i < count; in += iov[i++].iov_len)
        if (iov[i].iov_len != 0) std::memcpy(iov[i].iov_base, in, iov[i].iov_len);
}

// Applies the operation to packed elements.
void accumulate_packed(const AccumulateOp& c, const std::byte* in, std::byte* inout, uint64_t bytes,
                       ScratchBuffers& scratch);

// Applies the operation to elements in memory. fetched receives the previous values, packed; may be null.
// fetch_only ignores `in`.
void accumulate_iov(const AccumulateOp& c, const iovec* iov, size_t count, const std::byte* in,
                    std::byte* fetched, const AccumulateGuard& guard, ScratchBuffers& scratch);

// Applies the operation to one segment. Needs no scratch memory and therefore no lock of the progress engine.
// Returns false if the segment is not aligned or the elements are noncontiguous.
bool accumulate_contiguous(const AccumulateOp& c, const iovec& row, const std::byte* in, std::byte* fetched,
                           const AccumulateGuard& guard);

// Compare-and-swap of one element in memory; fetched receives the previous value.
void swap_element(const CompareSwapOp& s, std::byte* at, const void* compare, const void* value,
                  void* fetched, const AccumulateGuard& guard);

} // namespace zipmpi::proto::rma
