// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two threads of one process in a job over several hosts, of which one at a time can sleep on the network's
// descriptor. The network brings a message for each; who has its own leaves MPI. Neither sleeps for ever.
#include "world.hpp"

using namespace zipmpi;

namespace {

struct Process : World {
    transport::ucx::Network network;
    bool arrived[2] = {};
    proto::Operation operations[2];

    Process()
        : World(1, 8) {
        os::bells = {};
        os::bells.other_is_readable = [this] { return arrived[0] || arrived[1]; };
        network.arm = [this] { return !arrived[0] && !arrived[1]; };
        network.progress = [this] { return take(); };
        lanes[0]->use_network(network);
        static_cast<void>(lanes[0]->shm().hear_a_bell());
    }
    int take() {
        int happened = 0;
        for (int i = 0; i < 2; ++i) {
            if (!std::exchange(arrived[i], false)) continue;
            operations[i].complete = true;
            lanes[0]->wake_threads(); // as Lane::finish() does
            ++happened;
        }
        return happened;
    }
};

void wait(Process& p, int i) {
    p.lanes[0]->step_in();
    proto::wait_for(*p.lanes[0], p.operations[i]);
    p.lanes[0]->step_out();
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
