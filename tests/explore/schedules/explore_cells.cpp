// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank sends more messages through cells than it has cells, and sleeps until cells are returned; the reader
// sleeps until messages arrive. No cell is reused before it was read, and both ranks are woken.
#include "test_node.hpp"

using namespace zipmpi;

namespace {

constexpr uint32_t sender = 0;
constexpr uint32_t reader = 1;
constexpr int messages = 4;
constexpr size_t bytes = 1000; // more than fits inline into slots

struct Stream : SimulatedRanks {
    int sent = 0;
    int got = 0;
    Stream()
        : SimulatedRanks(2, 8) {}
};

// Like ProgressEngine::send_pending(): sends as many messages as possible.
int send_some(Stream& s) {
    int now = 0;
    for (; s.sent < messages; ++now, ++s.sent) {
        const std::vector<std::byte> data(bytes, static_cast<std::byte>(s.sent));
        if (s.engines[sender]->shm().send_bulk(reader, {}, nullptr, 0, {data.data(), bytes}) !=
            transport::SendStatus::ok)
            break;
    }
    return now;
}

void take(Stream& s, const transport::Arrival& a) {
    explore::point(); // the bytes are still in the cell
    explore::require(a.bulk_bytes == bytes, "wrong message length");
    for (size_t i = 0; i < bytes; ++i)
        explore::require(a.bulk[i] == static_cast<std::byte>(s.got), "a cell was reused before it was read");
    ++s.got;
}

void wait_for(proto::ProgressEngine& engine, const int& count) {
    const proto::Operation nothing;
    proto::wait_until(
        engine, [&] { return count == messages; }, proto::wait_info_of(nothing));
}

} // namespace

int main() {
    use_short_settings();
    explore::Limits limits;
    limits.late_stores = 1;
    const auto make = [] {
        const auto s = std::make_shared<Stream>();
        s->engines[sender]->send_pending = [x = s.get()] { return send_some(*x); };
        s->engines[reader]->on_arrival = [x = s.get()](const transport::Arrival& a) { take(*x, a); };
        return explore::Threads{[s] { wait_for(*s->engines[sender], s->sent); },
                                [s] { wait_for(*s->engines[reader], s->got); }};
    };
    return explore::report("cells", explore::explore(limits, make));
}
