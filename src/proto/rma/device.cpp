// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/device.hpp"

#include "os/clock.hpp"
#include "proto/p2p/lane.hpp"

#include <sched.h>

namespace zipmpi::proto::rma {
namespace {

// Looks of one who waits before the CPU is offered to others: an operation takes a few microseconds.
constexpr uint32_t looks_per_turn = 64;

} // namespace

Device::Device(std::unique_ptr<transport::ucx::Direct> direct, Lane& lane)
    : direct_(std::move(direct))
    , lane_(lane) {
    watch_.device = this;
    watch_.look = [](Watcher& w) { return static_cast<Watch&>(w).device->look(); };
}

Device::~Device() { lane_.unwatch(watch_); }

std::string Device::open_way(Way& way) {
    std::string text;
    way.end = direct_->open_end(text);
    way.state = way.end >= 0 ? Way::State::asked : Way::State::impossible;
    return text;
}

std::string Device::accept(std::string_view text) {
    std::string own;
    const int end = direct_->open_end(own);
    return end >= 0 && direct_->connect(end, text) ? own : std::string();
}

void Device::connect(Way& way, std::string_view text) {
    if (way.state != Way::State::asked) return;
    const bool good = !text.empty() && direct_->connect(way.end, text);
    way.state = good ? Way::State::up : Way::State::impossible;
}

void Device::connect_to_self(Way& way) {
    const std::string text = open_way(way);
    if (way.state == Way::State::asked) connect(way, accept(text));
}

void Device::note(int end) {
    const auto i = static_cast<size_t>(end);
    if (i >= busy_.size()) busy_.resize(i + 1);
    if (!busy_[i]) ++busy_ends_;
    busy_[i] = true;
    lane_.watch(watch_);
}

bool Device::settled(int end) {
    if (!direct_->settled(end)) return false;
    finish(end);
    return true;
}

void Device::finish(int end) {
    const auto i = static_cast<size_t>(end);
    if (i < busy_.size() && busy_[i]) {
        busy_[i] = false;
        --busy_ends_;
    }
    const bool lost = direct_->failed(end);
    for (auto a = after_.begin(); a != after_.end();) {
        if (a->end != end) {
            ++a;
            continue;
        }
        if (a->run != nullptr) a->run(*a, lost);
        held_bytes_ -= a->memory.size();
        a = after_.erase(a);
    }
}

int Device::look() {
    direct_->progress();
    int end = -1;
    bool awaited = false;
    for (const After& a : after_) {
        awaited = awaited || a.at_once;
        if (a.at_once && direct_->settled(a.end)) end = a.end;
    }
    if (end >= 0) finish(end);
    if (busy_ends_ == 0) lane_.unwatch(watch_);
    if (awaited && ++looks_ % looks_per_turn == 0) sched_yield();
    return awaited ? 1 : 0; // nobody sleeps meanwhile
}

void Device::progress(uint32_t looks) {
    lane_.progress();
    const bool offers = looks % looks_per_turn == 0;
    if (!offers && !lane_.multithreaded()) return os::cpu_relax();
    if (offers) lane_.look_for_news();
    lane_.step_out();
    offers ? os::yield_cpu() : os::cpu_relax();
    lane_.step_in();
}

} // namespace zipmpi::proto::rma
