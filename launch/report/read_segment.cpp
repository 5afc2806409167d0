// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/read_segment.hpp"

#include "launch/report/function_name.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::launch {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::string printable(const char* text, size_t max_length) {
    std::string s(text, strnlen(text, max_length));
    std::replace_if(
        s.begin(), s.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
    return s;
}

std::string comm_name(const Recorder& r, uint32_t context) {
    if (context == 0) return {};
    for (const CommName& c : r.comms)
        if (c.context.load(relaxed) == context && c.name[0] != '\0') return printable(c.name, sizeof c.name);
    return "the unnamed communicator " + std::to_string(context);
}

const CallRecord* newest(const Recorder& r) {
    const uint64_t calls = r.call_count.load(relaxed);
    return calls == 0 ? nullptr : &r.calls[(calls - 1) % recorder_calls];
}

NearMiss read_near_miss(const segment::NodeSegment& segment, const Recorder& r) {
    const uint32_t context = r.near_miss_context.load(relaxed);
    const uint32_t from = r.near_miss_source.load(relaxed);
    if (context == 0 || from >= segment.local_ranks()) return {};
    return {segment.world_rank(from), r.near_miss_tag.load(relaxed), comm_name(r, context)};
}

RankPhase phase_of(wire::RankState state) {
    switch (state) {
    case wire::RankState::absent:
        return RankPhase::no_mpi;
    case wire::RankState::finalized:
        return RankPhase::finalized;
    default:
        return RankPhase::running;
    }
}

} // namespace

RankSnapshot read_rank_snapshot(const segment::NodeSegment& segment, uint32_t local) {
    const wire::RankBlock& block = segment.block(local);
    const Recorder& r = block.recorder;
    RankSnapshot p;
    p.rank = segment.world_rank(local);
    p.phase = phase_of(static_cast<wire::RankState>(block.state.load(relaxed)));
    p.call_count = r.call_count.load(relaxed);
    p.progress = r.progress.load(relaxed);
    p.asleep = r.asleep.load(relaxed) != 0;
    const uint32_t inside = r.current_function.load(relaxed);
    p.function = name_of_function(inside);
    const CallRecord* call = newest(r);
    if (inside != 0 && call != nullptr && call->function.load(relaxed) == inside) {
        p.peer = call->peer.load(relaxed);
        p.tag = call->tag.load(relaxed);
        p.comm = comm_name(r, call->context.load(relaxed));
    }
    if (!p.asleep) return p;
    p.wait_count = r.wait_count.load(relaxed);
    p.waits.resize(std::min(p.wait_count, recorder_waits));
    for (size_t i = 0; i < p.waits.size(); ++i) {
        const WaitRecord& w = r.waits[i];
        const uint32_t kind = w.kind.load(relaxed);
        p.waits[i] = {kind <= static_cast<uint32_t>(WaitKind::other) ? static_cast<WaitKind>(kind)
                                                                     : WaitKind::other,
                      w.world_peer.load(relaxed),
                      w.tag.load(relaxed),
                      comm_name(r, w.context.load(relaxed)),
                      w.sequence.load(relaxed),
                      w.bytes.load(relaxed)};
    }
    p.near_miss = read_near_miss(segment, r);
    return p;
}

std::string newest_call(const segment::NodeSegment& segment, uint32_t local) {
    const CallRecord* call = newest(segment.block(local).recorder);
    return call == nullptr ? std::string() : name_of_function(call->function.load(relaxed));
}

std::string abort_text(const segment::NodeSegment& segment, uint32_t local) {
    const Recorder& r = segment.block(local).recorder;
    return printable(r.abort_text, sizeof r.abort_text);
}

} // namespace zipmpi::launch
