// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/hang_monitor.hpp"

#include "launch/protocol/deadline.hpp"
#include "launch/report/hang.hpp"

#include "os/clock.hpp"

namespace zipmpi::launch {

void HangMonitor::begin() {
    if (seconds_ > 0) snapshot_at_ = os::now_ns() + watch_.interval_ns();
}

void HangMonitor::request(SnapshotPurpose purpose) {
    PayloadWriter w;
    subtree_.send_all(ControlFrameType::request_snapshot, w.u32(rounds_.begin(purpose)).take());
}

void HangMonitor::report_now() { request(SnapshotPurpose::report); }

uint64_t HangMonitor::next_time() const { return earliest({snapshot_at_, stacks_.next_time()}); }

void HangMonitor::on_time(uint64_t now) {
    stacks_.on_time(now);
    if (!take_due(snapshot_at_, now)) return;
    request(SnapshotPurpose::watch);
    snapshot_at_ = now + watch_.interval_ns();
}

void HangMonitor::on_snapshot(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t id = r.u32();
    Snapshot part;
    if (!r.ok() || !decode(r.rest(), part)) return;
    const std::optional<SnapshotRounds::Round> round = rounds_.add(id, part);
    if (!round) return; // other hosts have not replied yet
    if (round->purpose == SnapshotPurpose::report)
        report(round->ranks, 0);
    else if (watch_.feed(round->ranks, os::now_ns()))
        report(round->ranks, seconds_);
}

void HangMonitor::report(const Snapshot& s, double idle_seconds) {
    output_.write_stderr(hang_report(s, idle_seconds));
    stacks_.begin();
}

} // namespace zipmpi::launch
