// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Three ranks on one CPU take a TicketRwLock, as readers and writers in every combination: a writer excludes
// all others, and no rank sleeps forever.
#include "proto/rma/lock.hpp"
#include "test_node.hpp"

using namespace zipmpi;

namespace {

constexpr uint32_t ranks = 3;

struct Locked : SimulatedRanks {
    wire::WindowLock memory{};
    int readers = 0;
    int writers = 0;
    Locked()
        : SimulatedRanks(ranks, 1) {}
};

void enter(Locked& l, uint32_t rank, bool reads) {
    proto::rma::TicketRwLock lock(l.memory);
    proto::ProgressEngine& engine = *l.engines[rank];
    const proto::Operation shown;
    reads ? lock.lock_shared(engine, shown) : lock.lock_exclusive(engine, shown);
    explore::require(l.writers == 0 && (reads || l.readers == 0),
                     "a writer does not hold the lock exclusively");
    int& inside = reads ? l.readers : l.writers;
    ++inside;
    explore::point();
    --inside;
    reads ? lock.unlock_shared(engine) : lock.unlock_exclusive(engine);
}

} // namespace

int main() {
    use_short_settings();
    int status = 0;
    for (uint32_t readers = 0; readers < ranks && status == 0; ++readers) {
        const auto make = [readers] {
            const auto l = std::make_shared<Locked>();
            explore::Threads threads;
            for (uint32_t i = 0; i < ranks; ++i)
                threads.emplace_back([l, i, readers] { enter(*l, i, i < readers); });
            return threads;
        };
        status = explore::report("lock", explore::explore({}, make));
    }
    return status;
}
