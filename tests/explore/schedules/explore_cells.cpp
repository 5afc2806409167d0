// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank sends more messages through cells than it has cells, and sleeps until they come back; the reader
// sleeps until messages come. No cell is used again before it was read, and both are woken.
#include "world.hpp"

using namespace zipmpi;

namespace {

constexpr uint32_t sender = 0;
constexpr uint32_t reader = 1;
constexpr int messages = 4;
constexpr size_t bytes = 1000; // more than lines hold

struct Stream : World {
    int sent = 0;
    int got = 0;
    Stream()
        : World(2, 8) {}
};

// As Lane::send_pending(): as many as can go now.
int send_some(Stream& s) {
    int now = 0;
    for (; s.sent < messages; ++now, ++s.sent) {
        const std::vector<std::byte> data(bytes, static_cast<std::byte>(s.sent));
        if (s.lanes[sender]->shm().send_bulk(reader, {}, nullptr, 0, {data.data(), bytes}) !=
            transport::Sent::ok)
            break;
    }
    return now;
}

void take(Stream& s, const transport::Arrival& a) {
    explore::point(); // while the bytes are in the cell
    explore::require(a.bulk_bytes == bytes, "a message has another length");
    for (size_t i = 0; i < bytes; ++i)
        explore::require(a.bulk[i] == static_cast<std::byte>(s.got), "a cell was used before it was read");
    ++s.got;
}

void wait_for(proto::Lane& lane, const int& count) {
    const proto::Operation nothing;
    proto::wait_until(
        lane, [&] { return count == messages; }, proto::note_on(nothing));
}

} // namespace

int main() {
    use_short_settings();
    explore::Limits limits;
    limits.late_stores = 1;
    const auto make = [] {
        const auto s = std::make_shared<Stream>();
        s->lanes[sender]->send_pending = [x = s.get()] { return send_some(*x); };
        s->lanes[reader]->on_arrival = [x = s.get()](const transport::Arrival& a) { take(*x, a); };
        return explore::Threads{[s] { wait_for(*s->lanes[sender], s->sent); },
                                [s] { wait_for(*s->lanes[reader], s->got); }};
    };
    return explore::report("cells", explore::explore(limits, make));
}
