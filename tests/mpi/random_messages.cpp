// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random messages against the matching rules of MPI. All ranks draw the same plan from one seed: rounds of
// messages with random source, destination, tag, size and mode (standard, synchronous, buffered, ready in
// rounds where all receives are posted before, each also persistent). A receiver posts its receives in one of
// five styles (exact, any source, any tag, both, or some exact ones first and wildcards after them), in
// random order and partly after a delay, so that messages come expected and unexpected; some are persistent,
// some of the late ones matched probes. Between them lie receives that nothing matches, and sends on a
// communicator of their own, which are cancelled. Checked: every byte, that no message overtakes another from
// the same source where the earlier one would have fitted, and that a cancelled message is never seen.
// Arguments: seed=N rounds=N messages=N (per round) cancels=0 (of sends). The seed is printed when something
// is wrong.
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
int cancels_ = 1;               // 0: no send is cancelled, for libraries that cannot
MPI_Comm side_ = MPI_COMM_NULL; // for sends that are cancelled

[[noreturn]] void wrong(int round, const char* what) {
    std::fprintf(stderr, "random_messages: rank %d, round %d, seed %u: %s\n", rank_, round, seed_, what);
    MPI_Abort(MPI_COMM_WORLD, 4);
    std::abort();
}

struct Message {
    int source, destination, tag, bytes, number; // number: among those of its source to its destination
    int mode;
    bool persistent;
};

constexpr int room = 320000;
constexpr int tag_of_nobody = 99; // no message has it
enum Mode { standard, synchronous, buffered, ready, modes };

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
        m.mode = static_cast<int>(random() % modes);
        m.persistent = random() % 4 == 0;
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

enum How { plain, persistent, matched, hows };

void start_receive(Receive& r, How how) {
    if (how == matched) {
        MPI_Message message;
        MPI_Mprobe(r.source, r.tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(r.buffer.get(), room, MPI_BYTE, &message, &r.request);
    } else if (how == persistent) {
        MPI_Recv_init(r.buffer.get(), room, MPI_BYTE, r.source, r.tag, MPI_COMM_WORLD, &r.request);
        MPI_Start(&r.request);
    } else {
        MPI_Irecv(r.buffer.get(), room, MPI_BYTE, r.source, r.tag, MPI_COMM_WORLD, &r.request);
    }
}

// Early ones are started before any message is sent: a matched probe would wait for ever.
void start_receives(std::vector<Receive>& receives, size_t from, size_t to, bool early,
                    std::mt19937& random) {
    for (size_t i = from; i < to; ++i)
        start_receive(receives[i], static_cast<How>(random() % (early ? matched : hows)));
}

void start_send(const Message& m, const void* data, bool may_be_ready, MPI_Request* request) {
    using Start = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    static constexpr Start* once[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    static constexpr Start* often[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    const int mode = m.mode == ready && !may_be_ready ? standard : m.mode;
    (m.persistent ? often : once)[mode](data, m.bytes, MPI_BYTE, m.destination, m.tag, MPI_COMM_WORLD,
                                        request);
    if (m.persistent) MPI_Start(request);
}

void free_persistent(MPI_Request& request) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

bool was_cancelled(MPI_Request& request) {
    MPI_Status status;
    int cancelled = 0;
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    return cancelled != 0;
}

// Sends that are cancelled at once. Those for which it was too late are received.
void cancel_sends(std::mt19937& random, int round) {
    static std::vector<unsigned char> out(room);
    static std::vector<unsigned char> in(room);
    std::vector<int> left(static_cast<size_t>(size_));
    std::vector<int> coming(static_cast<size_t>(size_));
    for (int i = 0; i < 3; ++i) {
        const int to = static_cast<int>(random() % static_cast<unsigned>(size_));
        MPI_Request request;
        auto* start = random() % 2 == 0 ? MPI_Isend : MPI_Issend;
        start(out.data(), random_bytes(random), MPI_BYTE, to, 0, side_, &request);
        if (!was_cancelled(request)) ++left[static_cast<size_t>(to)];
    }
    MPI_Alltoall(left.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size_; ++from)
        for (int i = 0; i < coming[static_cast<size_t>(from)]; ++i)
            MPI_Recv(in.data(), room, MPI_BYTE, from, 0, side_, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    int seen = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, side_, &seen, MPI_STATUS_IGNORE);
    if (seen != 0) wrong(round, "a cancelled message was seen");
}

void finish_receives(std::vector<Receive>& receives, const std::vector<Message>& plan, int round) {
    for (Receive& r : receives) {
        MPI_Status status;
        int bytes = 0;
        MPI_Wait(&r.request, &status);
        free_persistent(r.request);
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
    const bool all_early = shared() % 4 == 0;
    const size_t early = all_early ? receives.size() : own() % (receives.size() + 1);
    MPI_Request in_vain;
    MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_of_nobody, MPI_COMM_WORLD, &in_vain);
    start_receives(receives, 0, early, true, own);
    if (all_early) MPI_Barrier(MPI_COMM_WORLD); // now ready sends are allowed
    std::vector<std::vector<unsigned char>> data;
    std::vector<MPI_Request> sends;
    data.reserve(plan.size());
    for (const Message& m : plan) {
        if (m.source != rank_) continue;
        data.emplace_back();
        fill(data.back(), m);
        sends.push_back(MPI_REQUEST_NULL);
        start_send(m, data.back().data(), all_early, &sends.back());
    }
    start_receives(receives, early, receives.size(), false, own);
    finish_receives(receives, plan, round);
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request& send : sends) free_persistent(send);
    if (!was_cancelled(in_vain)) wrong(round, "a receive that nothing matches was not cancelled");
    if (cancels_ != 0 && round % 8 == 0) cancel_sends(own, round);
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
        std::sscanf(argv[i], "cancels=%d", &cancels_);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    std::mt19937 shared(seed_);
    std::mt19937 own(seed_ + 1 + static_cast<unsigned>(rank_));
    MPI_Comm_dup(MPI_COMM_WORLD, &side_);
    std::vector<char> buffer(static_cast<size_t>(messages) * (room + MPI_BSEND_OVERHEAD));
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    for (int round = 0; round < rounds; ++round) run_round(round, shared, own, messages);
    void* memory = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&memory, &bytes);
    MPI_Comm_free(&side_);
    if (rank_ == 0) std::printf("random_messages: ok, %d messages, seed %u\n", rounds * messages, seed_);
    MPI_Finalize();
    return 0;
}
