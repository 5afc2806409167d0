// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two ranks send to a third that sleeps in between: nothing is lost, duplicated or out of order, and it is
// woken. The receiver polls one sender at a time, so that the senders displace each other.
#include "test_node.hpp"

using namespace zipmpi;

namespace {

constexpr uint32_t senders = 2;
constexpr uint32_t messages = 2;

struct Exchange : SimulatedRanks {
    uint32_t got[senders] = {};
    Exchange()
        : SimulatedRanks(senders + 1, 8) {}
};

void send(Exchange& x, uint32_t from) {
    transport::shm::ShmTransport& shm = x.engines[from]->shm();
    for (uint32_t n = 1; n <= messages; ++n) {
        const wire::Envelope envelope{};
        const auto sent =
            shm.send_inline(senders, envelope, reinterpret_cast<const std::byte*>(&n), sizeof n);
        explore::require(sent == transport::SendStatus::ok, "a ring is full");
    }
}

void receive(Exchange& x) {
    proto::ProgressEngine& engine = *x.engines[senders];
    engine.on_arrival = [&x](const transport::Arrival& a) {
        uint32_t n = 0;
        std::memcpy(&n, a.payload, sizeof n);
        explore::require(a.from < senders && n == ++x.got[a.from],
                         "a message is lost, duplicated or out of order");
    };
    const proto::Operation nothing;
    proto::wait_until(
        engine, [&] { return x.got[0] == messages && x.got[1] == messages; }, proto::wait_info_of(nothing));
}

} // namespace

int main() {
    use_short_settings();
    explore::Limits limits;
    limits.late_stores = 1;
    const auto make = [] {
        const auto x = std::make_shared<Exchange>();
        transport::shm::PolledSenders& polled = x->engines[senders]->shm().receive_rings_.polled_;
        polled.limit_ = polled.add_after_ = 1;
        explore::Threads threads;
        for (uint32_t i = 0; i < senders; ++i) threads.emplace_back([x, i] { send(*x, i); });
        threads.emplace_back([x] { receive(*x); });
        return threads;
    };
    return explore::report("sleep", explore::explore(limits, make));
}
