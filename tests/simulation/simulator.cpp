// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "simulator.hpp"

#include <algorithm>
#include <cstdio>

namespace zipmpi::simulation {

Simulator::Simulator(uint64_t seed, Trace trace)
    : random_(seed * 0x9e3779b97f4a7c15 + 1)
    , trace_(trace) {
    virtual_clock::set(second);
}

void Simulator::at(uint64_t when, std::function<void()> action) {
    events_.emplace(Key{std::max(when, now()), order_++}, std::move(action));
}

bool Simulator::step() {
    if (events_.empty()) return false;
    auto next = events_.extract(events_.begin());
    virtual_clock::set(next.key().first);
    ++steps_;
    next.mapped()();
    return true;
}

// SplitMix64: the same numbers on every machine.
uint64_t Simulator::below(uint64_t limit) {
    uint64_t z = random_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % limit;
}

void Simulator::fail(const std::string& what) {
    print("VIOLATION " + what);
    if (violation_.empty()) violation_ = what + " at " + std::to_string(now() / us) + " us";
}

void Simulator::print(const std::string& event) const {
    if (trace_ == Trace::printed)
        std::printf("%12llu us  %s\n", static_cast<unsigned long long>(now() / us), event.c_str());
}

void Process::start() {
    alive_ = true;
    next_poll_ = never;
    schedule(simulator_.now());
}

void Process::wake() {
    const uint64_t delay =
        simulator_.now() < slow_until_ ? simulator_.between(ms, 20 * ms) : simulator_.between(us, 20 * us);
    schedule(simulator_.now() + delay);
}

void Process::schedule(uint64_t when) {
    when = std::max(when, stopped_until_);
    if (!alive_ || when >= next_poll_) return;
    next_poll_ = when;
    simulator_.at(when, [this, when] { run(when); });
}

void Process::run(uint64_t when) {
    if (!alive_ || when != next_poll_) return; // an earlier one has replaced it
    next_poll_ = never;
    schedule(simulator_.now() < stopped_until_ ? stopped_until_ : poll());
}

} // namespace zipmpi::simulation
