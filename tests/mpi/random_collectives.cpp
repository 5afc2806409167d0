// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random collectives against a simple model. All ranks draw one plan from one seed: batches of collectives
// with random kind, form (blocking, nonblocking, persistent and started several times), communicator, counts,
// root, operation and use of MPI_IN_PLACE. All nonblocking operations of a batch are in flight at once and
// completed in random order. random_collective.hpp draws, calls and checks one collective. With threads=N
// each thread does this on separate communicators. Arguments: seed=N rounds=N threads=N most=N (elements). An
// error prints the seed.
#include "random_collective.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>

namespace {

using namespace random_collectives;

void compose_all(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i)
        static_cast<long*>(inout)[i] = compose(static_cast<long*>(in)[i], static_cast<long*>(inout)[i]);
}
void add_all(void* in, void* inout, MPI_Count* count, MPI_Datatype*) {
    for (MPI_Count i = 0; i < *count; ++i) static_cast<long*>(inout)[i] += static_cast<long*>(in)[i];
}

void run_batch(const Settings& settings, std::mt19937& random, std::mt19937& own,
               const std::vector<CommContext>& places, const std::vector<Operation>& ops, int first) {
    std::vector<std::unique_ptr<Collective>> batch;
    const int n = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < n; ++i) {
        const auto form = static_cast<CallForm>(random() % 3);
        const CommContext& place = places[random() % places.size()];
        const Operation& op = ops[random() % ops.size()];
        batch.push_back(std::make_unique<Collective>(settings, random, place, op, form, first + i));
        batch.back()->prepare(0);
        batch.back()->start();
    }
    for (int round = 0; round < 3; ++round) {
        std::vector<size_t> order(batch.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), own);
        std::vector<MPI_Request> requests;
        for (const size_t i : order)
            if (round < batch[i]->rounds()) requests.push_back(batch[i]->request);
        if (own() % 2 == 0) {
            MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        } else {
            for (MPI_Request& r : requests) {
                int done = 0;
                while (done == 0) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
            }
        }
        for (auto& c : batch)
            if (round < c->rounds()) c->verify();
        for (auto& c : batch) {
            if (round + 1 >= c->rounds()) continue;
            c->prepare(round + 1);
            c->start();
        }
    }
    for (auto& c : batch)
        if (c->rounds() > 1) MPI_Request_free(&c->request);
}

CommContext context_of(MPI_Comm comm) {
    CommContext p;
    p.comm = comm;
    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.size);
    return p;
}

void run_thread(const Settings& settings, unsigned seed, int rounds, MPI_Comm comm,
                const std::vector<Operation>& ops) {
    std::mt19937 random(seed);
    const CommContext whole = context_of(comm);
    std::mt19937 own(seed * 1000 + static_cast<unsigned>(whole.rank));
    std::vector<CommContext> places{whole};
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &copy);
    places.push_back(context_of(copy));
    MPI_Comm half = MPI_COMM_NULL; // half of the ranks, in reverse order
    MPI_Comm_split(comm, whole.rank % 2, -whole.rank, &half);
    places.push_back(context_of(half));
    for (int r = 0; r < rounds; ++r) run_batch(settings, random, own, places, ops, r * 10);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

int argument(int argc, char** argv, const char* name, int otherwise) {
    for (int i = 1; i < argc; ++i)
        if (std::strncmp(argv[i], name, std::strlen(name)) == 0)
            return std::atoi(argv[i] + std::strlen(name));
    return otherwise;
}

} // namespace

int main(int argc, char** argv) {
    const int threads = argument(argc, argv, "threads=", 1);
    const int rounds = argument(argc, argv, "rounds=", 100);
    const Settings settings{static_cast<unsigned>(argument(argc, argv, "seed=", 1)),
                            argument(argc, argv, "most=", 3000)};
    int provided = 0;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Op composed = MPI_OP_NULL;
    MPI_Op added = MPI_OP_NULL;
    MPI_Op_create(compose_all, 0, &composed);
    MPI_Op_create_c(add_all, 1, &added);
    const std::vector<Operation> ops{{MPI_SUM, [](long a, long b) { return a + b; }},
                                     {MPI_MAX, [](long a, long b) { return std::max(a, b); }},
                                     {composed, compose},
                                     {added, [](long a, long b) { return a + b; }}};
    std::vector<MPI_Comm> comms(static_cast<size_t>(threads));
    for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
        others.emplace_back([&, t] {
            run_thread(settings, settings.seed + static_cast<unsigned>(t), rounds,
                       comms[static_cast<size_t>(t)], ops);
        });
    run_thread(settings, settings.seed, rounds, comms[0], ops);
    for (std::thread& t : others) t.join();
    for (MPI_Comm& c : comms) MPI_Comm_free(&c);
    MPI_Op_free(&composed);
    MPI_Op_free(&added);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("random_collectives: ok\n");
    MPI_Finalize();
    return 0;
}
