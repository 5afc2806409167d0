// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What this process records: profile, trace, and the communicators and requests that are needed to name the
// peers of messages. Independent of the ABI: handles are their integer values.
//
// Threads: used under `Recording::Guard`, which locks only in programs with MPI_THREAD_MULTIPLE.
#pragma once

#include "trace/handle_table.hpp"
#include "trace/profile.hpp"
#include "trace/ticks.hpp"
#include "trace/trace_file.hpp"

#include <atomic>

namespace zipmpi::trace {

struct CommRecord {
    uint32_t id;          // equal in all members
    int32_t size;         // of the group that the ranks of peers refer to
    int32_t* world_ranks; // by rank in that group; null: equal

    [[nodiscard]] int32_t world_rank(int rank) const noexcept {
        if (rank < 0 || rank >= size) return wire::trace_no_peer; // MPI_PROC_NULL, MPI_ROOT
        return world_ranks != nullptr ? world_ranks[rank] : rank;
    }
};

enum class MessageKind : uint8_t { send, receive, matched_probe };

// A request, or a message of a matched probe.
struct PendingMessage {
    uint64_t start;
    uint64_t bytes;
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    uint16_t function;
    MessageKind kind;
    bool persistent;
    uintptr_t comm_handle;
};

inline constexpr size_t max_pending = 16384;
inline constexpr size_t max_comms = 4096;
inline constexpr uintptr_t small_handles = 1024; // of predefined datatypes in the standard ABI

class Recording {
  public:
    Recording() = default;
    ~Recording() { end(); } // of a program that exits without MPI_Finalize
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    // Reads the settings that mpiexec passes in the environment, at the first MPI_Init.
    void begin() noexcept;
    void end() noexcept; // closes the file; no further call is recorded
    [[nodiscard]] bool is_active() const noexcept { return active_; }
    [[nodiscard]] bool is_tracing() const noexcept { return file_.is_open(); }
    [[nodiscard]] bool is_profiling() const noexcept { return profiling_; }
    void set_threads(bool concurrent) noexcept { concurrent_ = concurrent; }

    // A call that has returned; depth 1: not inside another call.
    void add(const wire::TraceRecord& call, int depth) noexcept {
        const Guard guard(*this);
        if (profiling_ && active_) add_to_profile(call, depth);
        if (is_tracing()) file_.add(call);
    }
    // This rank's part of the profile.
    void fill(ProfileSums& sums, ProfileMaxima& maxima) const noexcept;

    // A name for a new communicator that its members compute alike: they create communicators with equal
    // groups in equal order.
    uint32_t name_comm(uint64_t group_hash) noexcept;

    // Size of a predefined datatype with a small handle; 0: not known yet.
    [[nodiscard]] std::atomic<uint8_t>& size_of_type(uintptr_t key) noexcept { return type_sizes_[key]; }

    // Offset of the number of bytes in a status of the library.
    [[nodiscard]] size_t bytes_in_status() const noexcept {
        return bytes_in_status_.load(std::memory_order_relaxed);
    }
    void set_bytes_in_status(size_t offset) noexcept {
        bytes_in_status_.store(offset, std::memory_order_relaxed);
    }

    [[nodiscard]] TraceFile& file() noexcept { return file_; }
    [[nodiscard]] HandleTable<CommRecord, max_comms>& comms() noexcept { return comms_; }
    [[nodiscard]] HandleTable<PendingMessage, max_pending>& pending() noexcept { return pending_; }

    class Guard {
      public:
        explicit Guard(Recording& r) noexcept
            : lock_(r.concurrent_ ? &r.lock_ : nullptr) {
            while (lock_ != nullptr && lock_->test_and_set(std::memory_order_acquire)) os::cpu_relax();
        }
        ~Guard() {
            if (lock_ != nullptr) lock_->clear(std::memory_order_release);
        }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

      private:
        std::atomic_flag* lock_;
    };

  private:
    void add_to_profile(const wire::TraceRecord& call, int depth) noexcept {
        const uint64_t elapsed = call.end - call.start;
        FunctionUse& use = uses_[call.function];
        ++use.calls;
        use.ticks += elapsed;
        use.bytes += call.bytes;
        if (depth == 1) mpi_ticks_ += elapsed;
    }

    bool active_ = false, profiling_ = false, concurrent_ = false;
    Identity self_;
    std::atomic_flag lock_;
    uint64_t start_ticks_ = 0, start_ns_ = 0, mpi_ticks_ = 0;
    FunctionUse uses_[names::function_count + 1] = {};
    HandleTable<uint32_t, max_comms> same_group_; // communicators by hash of the group
    HandleTable<CommRecord, max_comms> comms_;
    HandleTable<PendingMessage, max_pending> pending_;
    std::atomic<uint8_t> type_sizes_[small_handles] = {};
    std::atomic<size_t> bytes_in_status_ = SIZE_MAX;
    TraceFile file_;
};

// The recording of this process.
[[gnu::visibility("hidden")]] extern Recording recording;

} // namespace zipmpi::trace
