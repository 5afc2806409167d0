// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RDMA connections of a window to its members, established at the first use, and their completion.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "os/lazy_table.hpp"
#include "proto/rma/deferred_error.hpp"
#include "proto/rma/rdma_context.hpp"
#include "proto/rma/rdma_keys.hpp"
#include "proto/team.hpp"

#include <utility>
#include <vector>

namespace zipmpi::proto::rma {

class AmMessenger;
class WindowWaiter;

class RdmaConnections {
  public:
    RdmaConnections(const Team& team, RdmaContext& context, AmMessenger& messenger, WindowWaiter& waiter,
                    DeferredError& failure);

    [[nodiscard]] RdmaContext& context() { return context_; }
    [[nodiscard]] RdmaKeyTable& keys() { return keys_; }

    // The endpoint to a target, connected at the first use; -1 if unreachable.
    int endpoint(int rank);
    [[gnu::cold]] [[nodiscard]] Err unreachable_error(int rank) const;

    // What the operations of an epoch do: `get` if a result returns to this rank, of a get or an accumulate.
    enum class Access : uint8_t { none, put, get };
    // An operation of this window was started on the endpoint of a target.
    void mark_access(int rank, int endpoint, Access access);
    // The targets since the last call.
    [[nodiscard]] std::vector<std::pair<int, Access>> take_accesses();
    // Not all operations to this rank, of any window, are known to be complete.
    [[nodiscard]] bool is_busy(int rank) { return context_.is_busy(connection_to(rank).endpoint); }

    // Waits for all RDMA operations to this rank (or to all). A failure goes to the deferred error.
    void flush(int rank);
    // All flushes are in flight at once: a round trip, not one per rank.
    void flush_all() { flush_ranks(used_ranks_); }
    void flush_ranks(std::vector<int> ranks);
    // Without waiting: keeps this rank awake until the operations to `rank` are complete.
    void begin_flush(int rank);
    [[nodiscard]] bool is_flushed(int rank);
    [[nodiscard]] bool are_all_flushed();

    // Target: connects to the endpoint of an origin; returns its own for the answer, empty on failure.
    std::string accept(std::string_view text) { return context_.accept(text); }
    // Origin: handles the answer of a target.
    void on_answer(int from, std::string_view text);

  private:
    [[gnu::cold]] [[nodiscard]] Err flush_error(int rank) const;
    [[nodiscard]] RdmaContext::RdmaConnection& connection_to(int rank) {
        return context_.connection_to(team_.map.world(rank));
    }

    const Team& team_;
    RdmaContext& context_;
    AmMessenger& messenger_;
    WindowWaiter& waiter_;
    DeferredError& failure_;
    RdmaKeyTable keys_;
    os::LazyTable<bool> used_;       // by rank: this window has its endpoint
    std::vector<int> used_ranks_;    // those ranks
    os::LazyTable<Access> accesses_; // by rank
    std::vector<int> accessed_;      // ranks with an access
};

} // namespace zipmpi::proto::rma
