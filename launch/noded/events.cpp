// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What all ranks of the job must know: from the ranks here up to mpiexec, and from there into the segment.
#include "launch/noded/daemon.hpp"

#include <csignal>

namespace zipmpi::launch {
namespace {

uint32_t number_of(const PmiMessage& m, std::string_view name) {
    return static_cast<uint32_t>(std::strtoul(std::string(m.get(name)).c_str(), nullptr, 10));
}

} // namespace

void Daemon::on_told(uint32_t local, const PmiMessage& m) {
    Event e;
    e.context = number_of(m, "context");
    const std::string_view what = m.get("what");
    if (what == "revoke") {
        e.kind = Event::Kind::revoked;
    } else if (what == "agree") {
        e.kind = Event::Kind::agreement;
        e.rank = ranks_[local].world;
        e.number = number_of(m, "number");
        e.flags = number_of(m, "flags");
        e.value = number_of(m, "value");
        e.members = m.get("members");
        agreeing_[{e.context, e.number}].push_back(local);
    } else if (what == "lost") {
        e.kind = Event::Kind::lost;
        e.rank = number_of(m, "rank");
        e.value = ranks_[local].world;
    } else if (what == "taken") {
        return hand_out_decisions(local);
    } else {
        if (what == "spawned") spawned_.insert(static_cast<pid_t>(number_of(m, "pid")));
        return;
    }
    send_event(e);
}

void Daemon::send_event(const Event& e) { channel_.send(FrameType::event, encode(e)); }

void Daemon::on_news(const Event& e) {
    if (!segment_) return;
    switch (e.kind) {
    case Event::Kind::failed:
        return segment_.tell_failed(static_cast<int>(e.rank));
    case Event::Kind::revoked:
        return segment_.tell_revoked(e.context);
    case Event::Kind::agreement: {
        const auto waiting = agreeing_.find({e.context, e.number});
        if (waiting == agreeing_.end()) return;
        for (const uint32_t local : waiting->second)
            hand_out_decision(local, {e.context, e.number, e.flags, e.value, e.failed});
        agreeing_.erase(waiting);
        return;
    }
    case Event::Kind::lost: // who is taken for dead by some must be dead for all
        for (const Rank& r : ranks_)
            if (r.world == e.rank && r.live) kill(r.pid, SIGKILL);
        return;
    }
}

// In the order in which they were made. What finds no slot waits until the rank says that it has taken some.
void Daemon::hand_out_decision(uint32_t local, const boot::Decided& decided) {
    std::deque<boot::Decided>& kept = kept_decisions_[local];
    if (!kept.empty() || !segment_.tell_decision(local, decided)) kept.push_back(decided);
}

void Daemon::hand_out_decisions(uint32_t local) {
    std::deque<boot::Decided>& kept = kept_decisions_[local];
    while (!kept.empty() && segment_.tell_decision(local, kept.front())) kept.pop_front();
}

void Daemon::report_failed(uint32_t local, uint32_t exit_code, const std::string& text, bool by_signal) {
    Event e;
    e.kind = Event::Kind::failed;
    e.rank = ranks_[local].world;
    e.exit_code = exit_code;
    e.by_signal = by_signal;
    e.text = text;
    send_event(e);
}

// All ranks there are gone, or soon will be: without a parent a daemon ends what it has started.
void Daemon::on_child_nodes_lost(NodePlace nodes, const Problem& why) {
    Event e;
    e.kind = Event::Kind::failed;
    e.by_signal = true;
    e.exit_code = 1;
    e.text = format(with_outcome(why, "its ranks count as failed"), "mpiexec");
    for (uint32_t node = nodes.node; node < nodes.end; ++node)
        for (const uint32_t rank : request_.map.ranks_of(node)) {
            e.rank = rank;
            send_event(e);
            e.text.clear();
        }
}

} // namespace zipmpi::launch
