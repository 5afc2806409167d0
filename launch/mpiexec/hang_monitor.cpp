// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/hang_monitor.hpp"

#include "launch/protocol/deadline.hpp"
#include "launch/report/hang.hpp"

#include "os/clock.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

constexpr uint32_t snapshot_now = 1, snapshot_watch = 2;

} // namespace

void HangMonitor::begin() {
    if (seconds_ > 0) snapshot_at_ = os::now_ns() + watch_.interval_ns();
}

void HangMonitor::request(uint32_t id) {
    PayloadWriter w;
    subtree_.send_all(ControlFrameType::request_snapshot, w.u32(id).take());
}

void HangMonitor::report_now() { request(snapshot_now); }

uint64_t HangMonitor::next_time() const { return earliest({snapshot_at_, stacks_.next_time()}); }

void HangMonitor::on_time(uint64_t now) {
    stacks_.on_time(now);
    if (!take_due(snapshot_at_, now)) return;
    request(snapshot_watch);
    snapshot_at_ = now + watch_.interval_ns();
}

void HangMonitor::on_snapshot(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t id = r.u32();
    Snapshot part;
    if (!r.ok() || !decode(r.rest(), part)) return;
    Snapshot& all = snapshots_[id];
    all.insert(all.end(), part.begin(), part.end());
    if (all.size() < world_size_) return; // the other hosts have not replied yet
    Snapshot s = std::move(all);
    std::sort(s.begin(), s.end(),
              [](const RankSnapshot& a, const RankSnapshot& b) { return a.rank < b.rank; });
    snapshots_.erase(id);
    if (id == snapshot_now)
        report(s, 0);
    else if (watch_.feed(s, os::now_ns()))
        report(s, seconds_);
}

void HangMonitor::report(const Snapshot& s, double idle_seconds) {
    output_.write_stderr(hang_report(s, idle_seconds));
    stacks_.begin();
}

} // namespace zipmpi::launch
