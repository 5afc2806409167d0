// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/pvar_list.hpp"

#include "base/counters.hpp"
#include "base/size_histogram.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "segment/traffic.hpp"

#include <iterator>
#include <mutex>

namespace zipmpi::core::tool {
namespace {

using Source = PvarEntry::Source;

// In the order of traffic_value().
constexpr CounterInfo traffic_texts[] = {
    {"matrix.sent", "point-to-point messages sent to each rank of the communicator"},
    {"matrix.sent_bytes", "bytes of point-to-point messages sent to each rank of the communicator"},
    {"matrix.coll_sent", "messages of collectives sent to each rank of the communicator"},
    {"matrix.coll_sent_bytes", "bytes of messages of collectives sent to each rank of the communicator"},
};

uint64_t traffic_value(const segment::PeerTotals& s, uint32_t which) {
    const segment::PeerTotals::Totals& count = which < 2 ? s.point_to_point : s.collective;
    return which % 2 == 0 ? count.messages : count.bytes;
}

// Bytes are aggregates, events are counters.
PvarClass class_of(std::string_view name) {
    return name.ends_with("_bytes") ? PvarClass::aggregate : PvarClass::counter;
}

// One variable for each class of sizes, named by the smallest of them.
void add_sizes(std::vector<PvarEntry>& list) {
    for (uint32_t i = 0; i < size_histogram::classes; ++i) {
        const std::string least = std::to_string(size_histogram::smallest(i));
        const std::string range = i + 1 == size_histogram::classes ? least + " and more"
                                  : i < 2                          ? least
                                          : least + " to " + std::to_string(size_histogram::largest(i));
        list.push_back({"size." + least,
                        "messages of " + range + " bytes sent, if matrix.sizes is set",
                        {PvarClass::counter},
                        Binding::none,
                        Source::counter,
                        static_cast<uint32_t>(size_histogram::counter(i))});
    }
}

std::vector<PvarEntry> make_list() {
    std::vector<PvarEntry> list;
    for (uint32_t i = 0; i < static_cast<uint32_t>(Counter::count_); ++i) {
        const CounterInfo& c = counter_infos[i];
        list.push_back({"counter." + std::string(c.name),
                        std::string(c.text),
                        {class_of(c.name)},
                        Binding::none,
                        Source::counter,
                        i});
    }
    list.push_back({"p2p.unexpected_queue_length",
                    "current length of the unexpected message queue",
                    {PvarClass::level, true, true, false},
                    Binding::none,
                    Source::unexpected,
                    0});
    for (uint32_t i = 0; i < std::size(traffic_texts); ++i) {
        const CounterInfo& t = traffic_texts[i];
        list.push_back({std::string(t.name),
                        std::string(t.text),
                        {class_of(t.name)},
                        Binding::comm,
                        Source::traffic,
                        i});
    }
    add_sizes(list);
    return list;
}

std::vector<uint64_t> traffic_to(const Runtime& e, uint32_t which, const std::vector<int>& ranks) {
    std::vector<uint64_t> by_rank(static_cast<size_t>(e.job.size));
    for (const segment::PeerTotals& s :
         segment::TrafficReader(e.segment).row(static_cast<uint32_t>(e.job.local_index)))
        by_rank[static_cast<size_t>(s.to)] = traffic_value(s, which);
    std::vector<uint64_t> values;
    values.reserve(ranks.size());
    for (const int r : ranks) values.push_back(by_rank[static_cast<size_t>(r)]);
    return values;
}

} // namespace

const std::vector<PvarEntry>& pvar_list() {
    static const auto* const list = new std::vector<PvarEntry>(make_list());
    return *list;
}

std::vector<uint64_t> values_of(const PvarEntry& variable, const std::vector<int>& ranks) {
    std::vector<uint64_t> values(variable.binding == Binding::none ? 1 : ranks.size());
    Runtime* const e = runtime();
    if (e == nullptr) return values;
    const std::lock_guard guard(e->progress_engine->engine_lock()); // another thread may be sending
    switch (variable.source) {
    case Source::counter:
        values[0] = e->progress_engine->counters().get(static_cast<Counter>(variable.which));
        break;
    case Source::unexpected:
        values[0] = e->progress_engine->receiver().matcher().unexpected().count();
        break;
    case Source::traffic:
        values = traffic_to(*e, variable.which, ranks);
        break;
    }
    return values;
}

} // namespace zipmpi::core::tool
