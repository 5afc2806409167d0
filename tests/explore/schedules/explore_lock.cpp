// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Three ranks on one CPU take a FairLock, as readers and writers in every mix: a writer is alone, and nobody
// sleeps for ever.
#include "proto/rma/lock.hpp"
#include "world.hpp"

using namespace zipmpi;

namespace {

constexpr uint32_t ranks = 3;

struct Locked : World {
    wire::WindowLock memory{};
    int readers = 0;
    int writers = 0;
    Locked()
        : World(ranks, 1) {}
};

void enter(Locked& l, uint32_t rank, bool reads) {
    proto::rma::FairLock lock(l.memory);
    proto::Lane& lane = *l.lanes[rank];
    const proto::Operation shown;
    reads ? lock.lock_shared(lane, shown) : lock.lock_exclusive(lane, shown);
    explore::require(l.writers == 0 && (reads || l.readers == 0), "a writer is not alone");
    int& inside = reads ? l.readers : l.writers;
    ++inside;
    explore::point();
    --inside;
    reads ? lock.unlock_shared(lane) : lock.unlock_exclusive(lane);
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
