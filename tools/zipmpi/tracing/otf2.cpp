// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_otf2.so: writes a trace as OTF2 archive, for Vampir, Scalasca, Cube and others. A
// location per rank. All messages are on MPI_COMM_WORLD, with ranks in it, because a trace does not have the
// members of other communicators.
#include "tracing/otf2_module.hpp"

#include "base/stable_sort.hpp"
#include "names/function_table.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <otf2/otf2.h>
#include <string_view>

namespace zipmpi::tool {
namespace {

constexpr uint64_t event_chunk = 1 << 20, definition_chunk = 4 << 20;
constexpr uint64_t ns_per_s = 1'000'000'000;

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp after_flush(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

struct NamedOp {
    std::string_view function;
    OTF2_CollectiveOp op;
};
constexpr NamedOp operations[] = {
    {"MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER},
    {"MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST},
    {"MPI_Gather", OTF2_COLLECTIVE_OP_GATHER},
    {"MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
    {"MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER},
    {"MPI_Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
    {"MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
    {"MPI_Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
    {"MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"MPI_Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE},
    {"MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"MPI_Scan", OTF2_COLLECTIVE_OP_SCAN},
    {"MPI_Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
    {"MPI_Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
};

const NamedOp* operation_of(uint16_t function) {
    std::string_view name = names::function(function).name;
    if (name.ends_with("_c")) name.remove_suffix(2);
    const auto found = std::find_if(std::begin(operations), std::end(operations),
                                    [&](const NamedOp& o) { return o.function == name; });
    return found != std::end(operations) ? found : nullptr;
}

// One moment of a rank. Order at equal times: ends of calls, their messages, then starts.
struct Moment {
    enum class What { received, leave, enter, sent } what;
    int64_t time;
    const TraceEvent* event;
};

std::vector<Moment> moments_of(const RankTrace& rank) {
    using What = Moment::What;
    std::vector<Moment> all;
    for (const TraceEvent& e : rank.events) {
        if (e.is_call()) {
            all.push_back({What::enter, e.start, &e});
            all.push_back({What::leave, e.end, &e});
        }
        if (e.is_send()) all.push_back({What::sent, e.start, &e});
        if (e.is_receive()) all.push_back({What::received, e.end, &e});
    }
    stable_sort(all, [](const Moment& a, const Moment& b) {
        return a.time != b.time ? a.time < b.time : a.what < b.what;
    });
    return all;
}

// Regions of the functions that were called. Readers expect consecutive numbers, in this order.
using Regions = std::map<uint16_t, OTF2_RegionRef>;

Regions regions_of(const Trace& trace) {
    Regions regions;
    for (const RankTrace& r : trace.ranks)
        for (const TraceEvent& e : r.events) regions[e.function] = 0;
    OTF2_RegionRef next = 0;
    for (auto& [function, region] : regions) region = next++;
    return regions;
}

uint64_t write_events(OTF2_EvtWriter* w, const RankTrace& rank, const Regions& regions) {
    const std::vector<Moment> moments = moments_of(rank);
    uint64_t count = 0;
    for (const Moment& m : moments) {
        const TraceEvent& e = *m.event;
        const auto time = static_cast<OTF2_TimeStamp>(std::max<int64_t>(m.time, 0));
        const auto peer = static_cast<uint32_t>(e.peer);
        const auto tag = static_cast<uint32_t>(e.tag);
        const NamedOp* const op = e.kind == wire::TraceKind::collective ? operation_of(e.function) : nullptr;
        switch (m.what) {
        case Moment::What::enter:
            OTF2_EvtWriter_Enter(w, nullptr, time, regions.at(e.function));
            if (op != nullptr) OTF2_EvtWriter_MpiCollectiveBegin(w, nullptr, time);
            break;
        case Moment::What::leave:
            if (op != nullptr)
                OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, time, op->op, 0,
                                                e.peer < 0 ? OTF2_UNDEFINED_UINT32 : peer, e.bytes, 0);
            OTF2_EvtWriter_Leave(w, nullptr, time, regions.at(e.function));
            break;
        case Moment::What::sent:
            OTF2_EvtWriter_MpiSend(w, nullptr, time, peer, 0, tag, e.bytes);
            break;
        case Moment::What::received:
            OTF2_EvtWriter_MpiRecv(w, nullptr, time, peer, 0, tag, e.bytes);
            break;
        }
        count += op != nullptr ? 2 : 1;
    }
    return count;
}

// Strings of the definitions, each once.
class Strings {
  public:
    explicit Strings(OTF2_GlobalDefWriter* w)
        : writer_(w) {}
    OTF2_StringRef operator()(const std::string& text) {
        const auto [at, added] = numbers_.try_emplace(text, static_cast<OTF2_StringRef>(numbers_.size()));
        if (added) OTF2_GlobalDefWriter_WriteString(writer_, at->second, text.c_str());
        return at->second;
    }

  private:
    OTF2_GlobalDefWriter* writer_;
    std::map<std::string, OTF2_StringRef> numbers_;
};

void write_regions(OTF2_GlobalDefWriter* w, Strings& string, const Regions& regions) {
    for (const auto& [function, region] : regions) {
        const OTF2_StringRef name = string(names::function(function).name);
        OTF2_GlobalDefWriter_WriteRegion(w, region, name, name, string(""), OTF2_REGION_ROLE_FUNCTION,
                                         OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, string(""), 0, 0);
    }
}

void write_locations(OTF2_GlobalDefWriter* w, Strings& string, const Trace& trace,
                     const std::vector<uint64_t>& event_counts) {
    std::map<std::string, uint32_t> hosts;
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, string(trace.job), string("job"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (size_t i = 0; i < trace.ranks.size(); ++i) {
        const RankTrace& r = trace.ranks[i];
        const auto [host, added] = hosts.try_emplace(r.host, static_cast<uint32_t>(hosts.size() + 1));
        if (added)
            OTF2_GlobalDefWriter_WriteSystemTreeNode(w, host->second, string(r.host), string("node"), 0);
        const OTF2_StringRef name = string("rank " + std::to_string(r.rank));
        OTF2_GlobalDefWriter_WriteLocationGroup(w, r.rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                host->second, OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w, r.rank, name, OTF2_LOCATION_TYPE_CPU_THREAD, event_counts[i],
                                           r.rank);
    }
    std::vector<uint64_t> all(trace.world_size);
    std::iota(all.begin(), all.end(), 0);
    OTF2_GlobalDefWriter_WriteGroup(w, 0, string("ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, trace.world_size, all.data());
    OTF2_GlobalDefWriter_WriteGroup(w, 1, string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, trace.world_size, all.data());
    OTF2_GlobalDefWriter_WriteComm(w, 0, string("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
}

} // namespace

extern "C" [[gnu::visibility("default")]] bool
zipmpi_write_otf2(const Trace& trace, const std::string& folder, std::string& why) {
    OTF2_Archive* const archive =
        OTF2_Archive_Open(folder.c_str(), "trace", OTF2_FILEMODE_WRITE, event_chunk, definition_chunk,
                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    const OTF2_FlushCallbacks flush{before_flush, after_flush};
    if (archive == nullptr || OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr) != OTF2_SUCCESS ||
        OTF2_Archive_SetSerialCollectiveCallbacks(archive) != OTF2_SUCCESS ||
        OTF2_Archive_OpenEvtFiles(archive) != OTF2_SUCCESS) {
        why = "libotf2 could not create the archive";
        return false;
    }
    const Regions regions = regions_of(trace);
    std::vector<uint64_t> counts;
    for (const RankTrace& r : trace.ranks) {
        OTF2_EvtWriter* const w = OTF2_Archive_GetEvtWriter(archive, r.rank);
        counts.push_back(write_events(w, r, regions));
        OTF2_Archive_CloseEvtWriter(archive, w);
    }
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (const RankTrace& r : trace.ranks)
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, r.rank));
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_GlobalDefWriter* const w = OTF2_Archive_GetGlobalDefWriter(archive);
    Strings string(w);
    OTF2_GlobalDefWriter_WriteClockProperties(w, ns_per_s, 0, static_cast<uint64_t>(trace.duration) + 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    write_regions(w, string, regions);
    write_locations(w, string, trace, counts);
    if (OTF2_Archive_Close(archive) == OTF2_SUCCESS) return true;
    why = "libotf2 could not write the archive";
    return false;
}

} // namespace zipmpi::tool
