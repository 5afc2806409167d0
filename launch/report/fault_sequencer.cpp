// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/fault_sequencer.hpp"

#include <charconv>

namespace zipmpi::launch {
namespace {

bool take_number(std::string_view& text, uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

bool take_char(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

bool parse_ranks(std::string_view text, uint32_t limit, std::set<uint32_t>& ranks) {
    do {
        uint32_t first = 0;
        if (!take_number(text, first)) return false;
        uint32_t last = first;
        if (take_char(text, '-') && !take_number(text, last)) return false;
        if (last < first || last >= limit) return false;
        for (uint32_t r = first; r <= last; ++r) ranks.insert(ranks.end(), r);
    } while (take_char(text, ','));
    return text.empty();
}

void FaultSequencer::process(const JobEvent& e) {
    switch (e.kind) {
    case JobEvent::Kind::failed:
        return fail(e.rank);
    case JobEvent::Kind::revoked:
        return revoke(e.context);
    case JobEvent::Kind::agreement:
        return add_contribution(e);
    case JobEvent::Kind::unreachable:
        return exclude_unreachable(e.rank, e.value);
    }
}

void FaultSequencer::fail(uint32_t rank) {
    if (rank >= world_size_ || !failed_.insert(rank).second) return;
    JobEvent event;
    event.kind = JobEvent::Kind::failed;
    event.rank = rank;
    broadcast_(event);
    for (auto a = agreements_.begin(); a != agreements_.end();) {
        const auto next = std::next(a);
        a->second.missing.erase(rank);
        decide_if_complete(a);
        a = next;
    }
}

// Two ranks that cannot reach each other both report it: only one of them is terminated.
void FaultSequencer::exclude_unreachable(uint32_t rank, uint32_t by) {
    if (rank >= world_size_ || has_failed(rank) || has_failed(by) || excluded_.count(by) != 0 ||
        !excluded_.insert(rank).second)
        return;
    JobEvent event;
    event.kind = JobEvent::Kind::unreachable;
    event.rank = rank;
    broadcast_(event);
}

void FaultSequencer::revoke(uint32_t context) {
    if (!revoked_.insert(context).second) return;
    JobEvent event;
    event.kind = JobEvent::Kind::revoked;
    event.context = context;
    broadcast_(event);
}

void FaultSequencer::add_contribution(const JobEvent& e) {
    auto a = agreements_.find({e.context, e.number});
    if (a == agreements_.end()) {
        Agreement fresh;
        if (!parse_ranks(e.members, world_size_, fresh.missing)) return;
        for (const uint32_t rank : failed_) fresh.missing.erase(rank);
        a = agreements_.emplace(Key{e.context, e.number}, std::move(fresh)).first;
    }
    a->second.missing.erase(e.rank);
    a->second.flags &= e.flags;
    a->second.value = std::max(a->second.value, e.value);
    decide_if_complete(a);
}

void FaultSequencer::decide_if_complete(std::map<Key, Agreement>::iterator a) {
    if (!a->second.missing.empty()) return;
    JobEvent event;
    event.kind = JobEvent::Kind::agreement;
    event.context = a->first.first;
    event.number = a->first.second;
    event.flags = a->second.flags;
    event.value = a->second.value;
    event.failed = failures();
    agreements_.erase(a);
    broadcast_(event);
}

} // namespace zipmpi::launch
