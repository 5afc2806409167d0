// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random messages against the matching rules of MPI. All ranks draw the same plan from one seed: rounds of
// messages with random source, destination, tag, size and mode. A receiver posts its receives in one of five
// styles (exact, any source, any tag, both, or some exact ones first and wildcards after them), in random
// order and partly after a delay, so that messages come expected and unexpected. Checked: every byte, and
// that no message overtakes another from the same source where the earlier one would have fitted. Arguments:
// seed=N rounds=N messages=N (per round). The seed is printed when something is wrong.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <random>
#include <vector>

namespace {

int rank_ = 0;
int size_ = 0;
unsigned seed_ = 20261115;

[[noreturn]] void wrong(int round, const char* what) {
    std::fprintf(stderr, "random_messages: rank %d, round %d, seed %u: %s\n", rank_, round, seed_, what);
    MPI_Abort(MPI_COMM_WORLD, 4);
    std::abort();
}

struct Message {
    int source, destination, tag, bytes, mode, number; // number: among those of its source to its destination
};

constexpr int room = 320000;

struct Receive {
    int source, tag; // as posted
    std::unique_ptr<unsigned char[]>
        buffer; // room bytes, not initialised: that would cost more than the messages
    MPI_Request request = MPI_REQUEST_NULL;
    int got_source = -1, got_tag = -1, got_number = -1;
};

unsigned char byte_at(int i, const Message& m) {
    return static_cast<unsigned char>(i * 7 + m.number * 13 + m.source * 31 + m.tag);
}

void fill(std::vector<unsigned char>& data, const Message& m) {
    data.resize(static_cast<size_t>(m.bytes));
    for (int i = 0; i < m.bytes; ++i) data[static_cast<size_t>(i)] = byte_at(i, m);
    if (m.bytes >= 4) std::memcpy(data.data(), &m.number, 4);
}

bool intact(const unsigned char* data, const Message& m) {
    for (int i = m.bytes >= 4 ? 4 : 0; i < m.bytes; ++i)
        if (data[i] != byte_at(i, m)) return false;
    return true;
}

int random_bytes(std::mt19937& random) {
    switch (random() % 8) {
    case 0:
        return 4 + static_cast<int>(random() % 2);
    case 1:
        return 32000 + static_cast<int>(random() % 2000);
    case 2:
        return static_cast<int>(random() % 300000) + 4;
    case 3:
        return 38 + static_cast<int>(random() % 5);
    default:
        return 4 + static_cast<int>(random() % 3000);
    }
}

std::vector<Message> plan_round(std::mt19937& random, int messages) {
    std::vector<Message> plan;
    std::vector<int> numbers(static_cast<size_t>(size_ * size_));
    for (int i = 0; i < messages; ++i) {
        Message m{};
        m.source = static_cast<int>(random() % static_cast<unsigned>(size_));
        m.destination = static_cast<int>(random() % static_cast<unsigned>(size_));
        m.tag = static_cast<int>(random() % 4);
        m.bytes = random_bytes(random);
        m.mode = static_cast<int>(random() % 4);
        m.number = numbers[static_cast<size_t>(m.source * size_ + m.destination)]++;
        plan.push_back(m);
    }
    return plan;
}

enum Style { exact, any_source, any_tag, any_both, exact_then_any };

std::vector<Receive> plan_receives(const std::vector<Message>& plan, std::mt19937& random) {
    const auto style = static_cast<Style>(random() % 5);
    std::vector<Receive> first;
    std::vector<Receive> last;
    for (const Message& m : plan) {
        if (m.destination != rank_) continue;
        Receive r{};
        const bool wild = style == any_both || (style == exact_then_any && random() % 2 == 0);
        r.source = wild || style == any_source ? MPI_ANY_SOURCE : m.source;
        r.tag = wild || style == any_tag ? MPI_ANY_TAG : m.tag;
        (wild ? last : first).push_back(std::move(r));
    }
    std::shuffle(first.begin(), first.end(), random);
    for (Receive& r : last) first.push_back(std::move(r));
    for (Receive& r : first) r.buffer.reset(new unsigned char[room]);
    return first;
}

// Two messages of one source: the later one may not sit in a receive that was posted earlier and fits the
// earlier one.
void check_order(const std::vector<Receive>& receives, int round) {
    for (size_t early = 0; early < receives.size(); ++early)
        for (size_t late = early + 1; late < receives.size(); ++late) {
            const Receive& a = receives[early];
            const Receive& b = receives[late];
            const bool fits = a.tag == MPI_ANY_TAG || a.tag == b.got_tag;
            if (a.got_source == b.got_source && a.got_number > b.got_number && fits)
                wrong(round, "a message was overtaken");
        }
}

void start_receives(std::vector<Receive>& receives, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
        MPI_Irecv(receives[i].buffer.get(), room, MPI_BYTE, receives[i].source, receives[i].tag,
                  MPI_COMM_WORLD, &receives[i].request);
}

void finish_receives(std::vector<Receive>& receives, const std::vector<Message>& plan, int round) {
    for (Receive& r : receives) {
        MPI_Status status;
        int bytes = 0;
        MPI_Wait(&r.request, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        r.got_source = status.MPI_SOURCE;
        r.got_tag = status.MPI_TAG;
        std::memcpy(&r.got_number, r.buffer.get(), 4);
        const Message* match = nullptr;
        for (const Message& m : plan)
            if (m.destination == rank_ && m.source == r.got_source && m.number == r.got_number) match = &m;
        if (match == nullptr) wrong(round, "a message that nobody sent");
        if (match->tag != r.got_tag || match->bytes != bytes) wrong(round, "the wrong envelope");
        if (!intact(r.buffer.get(), *match)) wrong(round, "the wrong bytes");
    }
    check_order(receives, round);
}

void run_round(int round, std::mt19937& shared, std::mt19937& own, int messages) {
    const auto plan = plan_round(shared, messages);
    auto receives = plan_receives(plan, own);
    const size_t early = receives.empty() ? 0 : own() % (receives.size() + 1);
    start_receives(receives, 0, early);
    std::vector<std::vector<unsigned char>> data;
    std::vector<MPI_Request> sends;
    data.reserve(plan.size());
    for (const Message& m : plan) {
        if (m.source != rank_) continue;
        data.emplace_back();
        fill(data.back(), m);
        sends.push_back(MPI_REQUEST_NULL);
        auto* start = m.mode == 0 ? MPI_Issend : MPI_Isend;
        start(data.back().data(), m.bytes, MPI_BYTE, m.destination, m.tag, MPI_COMM_WORLD, &sends.back());
    }
    start_receives(receives, early, receives.size());
    finish_receives(receives, plan, round);
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); // a wildcard must not take a message of the next round
}

} // namespace

int main(int argc, char** argv) {
    int rounds = 200;
    int messages = 60;
    for (int i = 1; i < argc; ++i) {
        std::sscanf(argv[i], "seed=%u", &seed_);
        std::sscanf(argv[i], "rounds=%d", &rounds);
        std::sscanf(argv[i], "messages=%d", &messages);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    std::mt19937 shared(seed_);
    std::mt19937 own(seed_ + 1 + static_cast<unsigned>(rank_));
    for (int round = 0; round < rounds; ++round) run_round(round, shared, own, messages);
    if (rank_ == 0) std::printf("random_messages: ok, %d messages, seed %u\n", rounds * messages, seed_);
    MPI_Finalize();
    return 0;
}
