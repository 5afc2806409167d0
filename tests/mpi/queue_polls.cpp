// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rings that a rank polls per received message, in patterns with different expected senders. All ranks
// exchange messages with all others first. Prints one line per pattern; queue_polls.py compares poll modes.
#include "check.hpp"
#include "counted.hpp"

#include <random>
#include <string>

namespace {

struct Round {
    std::vector<int> to;
    std::vector<int> from; // MPI_ANY_SOURCE: from any rank
};

int at_distance(int distance) { return ((rank_ + distance) % size_ + size_) % size_; }

Round neighbors(const std::vector<int>& distances) {
    Round r;
    for (const int d : distances) {
        if (at_distance(d) == rank_) continue;
        r.to.push_back(at_distance(d));
        r.from.push_back(at_distance(-d));
    }
    return r;
}

Round all_to_all() {
    std::vector<int> distances;
    for (int d = 1; d < size_; ++d) distances.push_back(d);
    return neighbors(distances);
}

Round funnel() {
    Round r;
    if (rank_ == 0)
        r.from.assign(static_cast<size_t>(size_ - 1), MPI_ANY_SOURCE);
    else
        r.to.push_back(0);
    return r;
}

// All ranks draw an equal shift.
Round shifted(std::mt19937& random) { return neighbors({1 + static_cast<int>(random() % 1000003)}); }

Round round_of(const std::string& pattern, std::mt19937& random) {
    if (pattern == "ring") return neighbors({1});
    if (pattern == "halo") {
        int width = 1;
        while (width * width < size_) ++width;
        return neighbors({1, -1, width, -width});
    }
    if (pattern == "alltoall") return all_to_all();
    if (pattern == "funnel") return funnel();
    CHECK(pattern == "random");
    return shifted(random);
}

void exchange(const Round& r, int round) {
    std::vector<MPI_Request> requests(r.from.size());
    std::vector<int> in(r.from.size(), -1);
    for (size_t i = 0; i < r.from.size(); ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, r.from[i], round, MPI_COMM_WORLD, &requests[i]);
    for (const int to : r.to) MPI_Send(&round, 1, MPI_INT, to, round, MPI_COMM_WORLD);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const int value : in) CHECK(value == round);
}

void run(const std::string& pattern, int rounds) {
    std::mt19937 random(17);
    MPI_Barrier(MPI_COMM_WORLD);
    const Counted looks("counter.ring_polls");
    const Counted receives("counter.receives");
    const Counted late("counter.missed_wakeups");
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) exchange(round_of(pattern, random), i % 1000);
    const double seconds = MPI_Wtime() - begin;
    const double looked_at = static_cast<double>(looks.sum_of_all());
    const double received = static_cast<double>(receives.sum_of_all());
    CHECK(late.sum_of_all() == 0);
    if (rank_ == 0)
        std::printf("%s: %.0f messages, %.2f polls each, %.2f us each\n", pattern.c_str(), received,
                    looked_at / received, seconds * 1e6 / received);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    exchange(all_to_all(), 0);
    std::string pattern = "ring";
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.rfind("rounds=", 0) == 0)
            run(pattern, std::stoi(word.substr(7)));
        else
            pattern = word;
    }
    MPI_T_finalize();
    session.end("queue_polls");
}
