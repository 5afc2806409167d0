// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/process_table.hpp"

// Names, types and values are those of the interface, which debuggers read by name.
extern "C" {
struct MPIR_PROCDESC {
    char* host_name;
    char* executable_name;
    int pid;
};
[[gnu::visibility("default")]] MPIR_PROCDESC* MPIR_proctable = nullptr;
[[gnu::visibility("default")]] int MPIR_proctable_size = 0;
[[gnu::visibility("default")]] volatile int MPIR_being_debugged = 0;
[[gnu::visibility("default")]] volatile int MPIR_debug_state = 0; // 0: none, 1: MPIR_DEBUG_SPAWNED
[[gnu::visibility("default")]] int MPIR_i_am_starter = 1;         // mpiexec is no rank
[[gnu::visibility("default")]] int MPIR_partial_attach_ok = 1;    // ranks without debugger are released, too
[[gnu::visibility("default")]] void MPIR_Breakpoint();
[[gnu::noinline]] void MPIR_Breakpoint() { asm volatile("" ::: "memory"); }
}

namespace zipmpi::launch {
namespace {

constexpr int debug_spawned = 1;

} // namespace

bool is_debugged() { return MPIR_being_debugged != 0; }

bool ProcessTable::on_pids(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t node = r.u32();
    std::string host = r.text();
    std::vector<uint32_t> pids = r.numbers();
    if (!r.is_finished() || pids_.contains(node) || pids.size() != request_.map.ranks_of(node).size())
        return false;
    known_ += pids.size();
    pids_[node] = std::move(pids);
    hosts_[node] = std::move(host);
    if (known_ < request_.world_size) return false;
    publish();
    return true;
}

// Strings and table live as long as mpiexec.
void ProcessTable::publish() {
    static std::vector<MPIR_PROCDESC> table;
    static StartRequest request;
    static std::map<uint32_t, std::string> hosts;
    request = request_;
    hosts = hosts_;
    table.resize(request.world_size);
    for (const auto& [node, pids] : pids_) {
        const std::vector<uint32_t> ranks = request.map.ranks_of(node);
        for (size_t i = 0; i < ranks.size(); ++i)
            table[ranks[i]] = {hosts[node].data(), request.apps[request.app_of(ranks[i])].path.data(),
                               static_cast<int>(pids[i])};
    }
    MPIR_proctable = table.data();
    MPIR_proctable_size = static_cast<int>(table.size());
    MPIR_debug_state = debug_spawned;
    if (is_debugged()) MPIR_Breakpoint();
}

} // namespace zipmpi::launch
