// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/stack_collector.hpp"

#include "boot/timeouts.hpp"
#include "os/clock.hpp"

namespace zipmpi::launch {
namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t time_to_reply = 2 * second; // beyond the time of the tool

} // namespace

void StackCollector::begin() {
    const uint32_t seconds = boot::stack_seconds_limit();
    if (seconds == 0 || is_pending()) return;
    hosts_.clear();
    PayloadWriter w;
    round_.begin(ControlFrameType::request_stacks, os::now_ns() + seconds * second + time_to_reply,
                 w.u32(seconds).take());
}

void StackCollector::on_stacks(std::string_view payload) {
    PayloadReader r(payload);
    const std::optional<uint32_t> node = round_.read_reply(r);
    HostStacks host;
    if (!node || !decode(r.rest(), host)) return;
    hosts_.push_back(std::move(host));
    if (round_.add_reply(*node)) print();
}

void StackCollector::on_time(uint64_t now) {
    if (round_.is_due(now)) print();
}

void StackCollector::print() {
    round_.end();
    for (const uint32_t node : round_.awaited()) {
        HostStacks silent;
        silent.host = node < request_.tree.hosts.size() ? request_.tree.hosts[node] : "of mpiexec";
        silent.reason = "it has not replied in time";
        for (const uint32_t rank : request_.map.ranks_of(node))
            silent.unread.push_back(static_cast<int>(rank));
        hosts_.push_back(std::move(silent));
    }
    output_.write_stderr(stacks_report(hosts_, "at most 64 ranks of a host are read, in " +
                                                   std::to_string(boot::stack_seconds_limit()) +
                                                   " s (launch.stack_seconds)"));
    hosts_.clear();
}

} // namespace zipmpi::launch
