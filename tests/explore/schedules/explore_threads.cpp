// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two threads of one process in a multi-host job; one at a time can sleep on the network's descriptor. The
// network delivers one message to each; a thread leaves MPI with its message. Neither sleeps forever.
#include "test_node.hpp"

using namespace zipmpi;

namespace {

struct Process : SimulatedRanks {
    transport::Network network;
    bool arrived[2] = {};
    proto::Operation operations[2];

    Process()
        : SimulatedRanks(1, 8) {
        os::wakeup_sockets = {};
        os::wakeup_sockets.other_is_readable = [this] { return arrived[0] || arrived[1]; };
        network.arm = [this] { return !arrived[0] && !arrived[1]; };
        network.progress = [this] { return take(); };
        engines[0]->use_network(network);
        static_cast<void>(engines[0]->shm().enable_socket_wakeup());
    }
    int take() {
        int happened = 0;
        for (int i = 0; i < 2; ++i) {
            if (!std::exchange(arrived[i], false)) continue;
            operations[i].complete = true;
            engines[0]->engine_lock().wake_waiters(); // as ProgressEngine does after a completion
            ++happened;
        }
        return happened;
    }
};

void wait(Process& p, int i) {
    p.engines[0]->engine_lock().relock();
    proto::wait_for(*p.engines[0], p.operations[i]);
    p.engines[0]->engine_lock().unlock_for_wait();
}

void bring_messages(Process& p) {
    const int first = explore::choose(2);
    explore::point();
    p.arrived[first] = true;
    explore::point();
    p.arrived[1 - first] = true;
}

} // namespace

int main() {
    use_short_settings();
    const auto make = [] {
        const auto p = std::make_shared<Process>();
        explore::Threads threads;
        for (int i = 0; i < 2; ++i) threads.emplace_back([p, i] { wait(*p, i); });
        threads.emplace_back([p] { bring_messages(*p); });
        return threads;
    };
    return explore::report("threads", explore::explore({}, make));
}
