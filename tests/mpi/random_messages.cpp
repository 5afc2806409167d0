// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random messages against the matching rules of MPI (the model is in random_plan.hpp). Messages of a round
// have random source, destination, tag, size and mode (standard, synchronous, buffered, ready), nonblocking,
// persistent or blocking. A receiver posts its receives in one of five styles (exact, any source, any tag,
// both, or some exact ones first and wildcards after them), in random order and partly after a delay, so that
// messages arrive expected and unexpected; some are persistent, some canceled and posted again, late ones
// also blocking, probed or matched probes. In some rounds all receives come before all sends, so that sends
// may be ready or block; in some all come after them, and then no synchronous send may be complete and each
// buffered one must be. In addition there are receives that nothing matches, and sends on a separate
// communicator that are canceled. Checked: every byte, every envelope, that no message overtakes another, and
// that a canceled message is never received. With threads=N each thread runs its own rounds, the even ones on
// a separate communicator, the odd ones all on one, each with its own tags and wildcard sources. Arguments:
// seed=N rounds=N messages=N (per round) largest=N (bytes) threads=N cancels=0 (of sends). The seed is
// printed.
#include "random_plan.hpp"
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using namespace random_messages;

int rank_ = 0;
int size_ = 0;
unsigned seed_ = 20261115;
int cancels_ = 1; // 0: no send is canceled, for libraries without support
const Text text_;

struct Settings {
    int rounds = 200, messages = 60, largest = room, threads = 1;
};

// State of one thread.
struct Worker {
    int thread;
    Shape shape;
    MPI_Comm comm;  // for its messages
    MPI_Comm alone; // used by no other thread
    MPI_Comm side;  // for canceled sends
    Random shared, own;
    Bytes arena;   // receive buffers
    Bytes out, in; // buffers of canceled sends
    int round = 0;

    [[noreturn]] void wrong(const char* what) const {
        std::fprintf(stderr, "random_messages: rank %d, thread %d, round %d, seed %u: %s\n", rank_, thread,
                     round, seed_, what);
        MPI_Abort(MPI_COMM_WORLD, 4);
        std::abort();
    }
    void check(bool good, const char* what) const {
        if (!good) wrong(what);
    }
};

int unused_tag(const Worker& p) { return p.shape.first_tag + unused_tag_offset; }

bool was_cancelled(MPI_Request& request, MPI_Status& status) {
    int canceled = 0;
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &canceled);
    return canceled != 0;
}

void free_persistent(MPI_Request& request) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

// ---- receiving

enum ReceiveMethod {
    plain,
    persistent,
    cancelled_first,
    early_hows,
    matched = early_hows,
    matched_later,
    blocking,
    probed,
    hows
};

// Cancels a receive at once and posts it again, unless a message has matched it.
void post_twice(Worker& p, Receive& r) {
    MPI_Irecv(r.buffer, p.shape.largest, MPI_BYTE, r.source, r.tag, p.comm, &r.request);
    if (was_cancelled(r.request, r.status))
        MPI_Irecv(r.buffer, p.shape.largest, MPI_BYTE, r.source, r.tag, p.comm, &r.request);
}

void receive_matched(Worker& p, Receive& r, bool later) {
    MPI_Message message = MPI_MESSAGE_NULL;
    int found = 0;
    while (later && found == 0) {
        std::this_thread::yield(); // the job may be oversubscribed
        MPI_Improbe(r.source, r.tag, p.comm, &found, &message, MPI_STATUS_IGNORE);
    }
    if (!later) MPI_Mprobe(r.source, r.tag, p.comm, &message, MPI_STATUS_IGNORE);
    if (later)
        MPI_Mrecv(r.buffer, p.shape.largest, MPI_BYTE, &message, &r.status);
    else
        MPI_Imrecv(r.buffer, p.shape.largest, MPI_BYTE, &message, &r.request);
}

void receive_probed(Worker& p, Receive& r) {
    MPI_Status seen;
    MPI_Probe(r.source, r.tag, p.comm, &seen);
    MPI_Recv(r.buffer, p.shape.largest, MPI_BYTE, seen.MPI_SOURCE, seen.MPI_TAG, p.comm, &r.status);
    int expected = 0;
    int bytes = 0;
    MPI_Get_count(&seen, MPI_BYTE, &expected);
    MPI_Get_count(&r.status, MPI_BYTE, &bytes);
    p.check(bytes == expected, "a probe returned another length");
}

void start_receive(Worker& p, Receive& r, ReceiveMethod how) {
    switch (how) {
    case matched:
    case matched_later:
        receive_matched(p, r, how == matched_later);
        break;
    case probed:
        receive_probed(p, r);
        break;
    case blocking:
        MPI_Recv(r.buffer, p.shape.largest, MPI_BYTE, r.source, r.tag, p.comm, &r.status);
        break;
    case cancelled_first:
        post_twice(p, r);
        break;
    case persistent:
        MPI_Recv_init(r.buffer, p.shape.largest, MPI_BYTE, r.source, r.tag, p.comm, &r.request);
        MPI_Start(&r.request);
        break;
    default:
        MPI_Irecv(r.buffer, p.shape.largest, MPI_BYTE, r.source, r.tag, p.comm, &r.request);
    }
}

// Early receives are started before any message is sent: waiting for one now would block forever.
void start_receives(Worker& p, std::vector<Receive>& receives, size_t from, size_t to, bool early) {
    for (size_t i = from; i < to; ++i)
        start_receive(p, receives[i], static_cast<ReceiveMethod>(below(p.own, early ? early_hows : hows)));
}

// Completes requests in one of five ways; `done` gets the index and the status of each.
template <class Done>
void complete(Worker& p, std::vector<MPI_Request>& requests, Done done) {
    const int count = static_cast<int>(requests.size());
    std::vector<MPI_Status> statuses(requests.size());
    std::vector<int> which(requests.size());
    const int way = below(p.own, 5);
    for (int left = count; left > 0;) {
        int found = count; // first two ways: all at once
        int flag = 0;
        if (way == 0) MPI_Waitall(count, requests.data(), statuses.data());
        while (way == 1 && flag == 0) {
            std::this_thread::yield();
            MPI_Testall(count, requests.data(), &flag, statuses.data());
        }
        if (way == 2) MPI_Waitsome(count, requests.data(), &found, which.data(), statuses.data());
        if (way == 3) std::this_thread::yield();
        if (way == 3) MPI_Testsome(count, requests.data(), &found, which.data(), statuses.data());
        if (way == 4) {
            found = 1;
            MPI_Waitany(count, requests.data(), &which[0], &statuses[0]);
        }
        if (found < 0 || found > left) p.wrong("more requests complete than are pending");
        for (int i = 0; i < found; ++i) done(index(way < 2 ? i : which[index(i)]), statuses[index(i)]);
        left -= found;
    }
}

void finish_receives(Worker& p, std::vector<Receive>& receives, const std::vector<Message>& plan) {
    std::vector<MPI_Request> requests;
    std::vector<Receive*> owners;
    for (Receive& r : receives) {
        if (r.request == MPI_REQUEST_NULL) continue;
        requests.push_back(r.request);
        owners.push_back(&r);
    }
    complete(p, requests, [&owners](size_t i, const MPI_Status& status) { owners[i]->status = status; });
    for (MPI_Request& request : requests) free_persistent(request);
    if (const char* problem = assign(receives, plan, rank_)) p.wrong(problem);
    for (const Receive& r : receives) {
        int bytes = 0;
        MPI_Get_count(&r.status, MPI_BYTE, &bytes);
        p.check(bytes == r.got->bytes, "the wrong length, or a message was overtaken");
        p.check(std::memcmp(r.buffer, text_.of(*r.got), index(bytes)) == 0,
                "the wrong bytes, or a message was overtaken");
    }
    p.check(!overtaken(receives), "a message was overtaken");
}

// ---- sending

int mode_of(const Message& m, bool may_be_ready) {
    return m.mode == ready && !may_be_ready ? standard : m.mode;
}

// When all receives are posted a send may be ready, and may block.
void start_send(Worker& p, const Message& m, bool all_posted, MPI_Request* request) {
    using Start = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    using Send = int(const void*, int, MPI_Datatype, int, int, MPI_Comm);
    static constexpr Start* once[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    static constexpr Start* often[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    static constexpr Send* waiting[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    const int mode = mode_of(m, all_posted);
    const void* data = text_.of(m);
    if (m.blocking && (all_posted || mode == buffered)) {
        waiting[mode](data, m.bytes, MPI_BYTE, m.destination, m.tag, p.comm);
        return;
    }
    (m.persistent ? often : once)[mode](data, m.bytes, MPI_BYTE, m.destination, m.tag, p.comm, request);
    if (m.persistent) MPI_Start(request);
}

struct Send {
    const Message* message;
    MPI_Request request = MPI_REQUEST_NULL;
};

std::vector<Send> start_sends(Worker& p, const std::vector<Message>& plan, bool all_posted) {
    std::vector<Send> sends;
    for (const Message& m : plan) {
        if (m.source != rank_) continue;
        sends.push_back({&m});
        start_send(p, m, all_posted, &sends.back().request);
    }
    return sends;
}

// Called before any receive is posted.
void check_without_receives(Worker& p, std::vector<Send>& sends) {
    for (Send& send : sends) {
        int done = 0;
        if (send.message->mode == synchronous && send.request != MPI_REQUEST_NULL)
            MPI_Request_get_status(send.request, &done, MPI_STATUS_IGNORE);
        p.check(done == 0, "a synchronous send was complete before its receive");
        if (send.message->mode == buffered) MPI_Wait(&send.request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(p.alone); // all ranks have checked
}

void finish_sends(std::vector<Send>& sends) {
    std::vector<MPI_Request> requests;
    for (Send& send : sends)
        if (send.request != MPI_REQUEST_NULL) requests.push_back(send.request);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request& request : requests) free_persistent(request);
}

// Sends that are canceled at once. Those that could not be canceled are received.
void cancel_sends(Worker& p) {
    std::vector<int> left(index(size_));
    std::vector<int> coming(index(size_));
    p.out.resize(room);
    p.in.resize(room);
    for (int i = 0; i < 3; ++i) {
        const int to = below(p.own, size_);
        MPI_Request request;
        MPI_Status status;
        auto* start = below(p.own, 2) == 0 ? MPI_Isend : MPI_Issend;
        start(p.out.data(), random_bytes(p.own, room), MPI_BYTE, to, 0, p.side, &request);
        if (!was_cancelled(request, status)) ++left[index(to)];
    }
    MPI_Alltoall(left.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, p.alone);
    for (int from = 0; from < size_; ++from)
        for (int i = 0; i < coming[index(from)]; ++i)
            MPI_Recv(p.in.data(), room, MPI_BYTE, from, 0, p.side, MPI_STATUS_IGNORE);
    MPI_Barrier(p.alone);
    int seen = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p.side, &seen, MPI_STATUS_IGNORE);
    p.check(seen == 0, "a canceled message was received");
}

// ---- rounds

enum Posting { some_early, all_early, all_late };

Posting draw_posting(Random& shared) {
    const int draw = below(shared, 8);
    return draw < 2 ? all_early : draw == 2 ? all_late : some_early;
}

void assign_buffers(Worker& p, std::vector<Receive>& receives) {
    const size_t space = index(std::max(p.shape.largest, 1)) + 64;
    if (p.arena.size() < space * receives.size()) p.arena.resize(space * receives.size());
    for (size_t i = 0; i < receives.size(); ++i) receives[i].buffer = p.arena.data() + space * i;
}

void run_round(Worker& p) {
    const auto plan = plan_messages(p.shared, size_, p.shape);
    auto receives = plan_receives(plan, rank_, p.shape, p.own);
    assign_buffers(p, receives);
    const Posting posting = draw_posting(p.shared);
    const size_t early = posting == all_early  ? receives.size()
                         : posting == all_late ? 0
                                               : p.own() % (receives.size() + 1);
    MPI_Request unmatched;
    MPI_Status status;
    MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, unused_tag(p), p.comm, &unmatched);
    start_receives(p, receives, 0, early, true);
    if (posting == all_early) MPI_Barrier(p.alone); // now ready sends are allowed
    auto sends = start_sends(p, plan, posting == all_early);
    if (posting == all_late) check_without_receives(p, sends);
    start_receives(p, receives, early, receives.size(), false);
    finish_receives(p, receives, plan);
    finish_sends(sends);
    p.check(was_cancelled(unmatched, status), "a receive that nothing matches was not canceled");
    if (cancels_ != 0 && p.round % 8 == 0) cancel_sends(p);
    MPI_Barrier(p.alone); // a wildcard must not take a message of the next round
}

Worker make_worker(int thread, const Settings& settings, MPI_Comm common) {
    const bool own_messages = thread % 2 == 0;
    const Shape shape{settings.messages, settings.largest, own_messages ? 0 : thread * 1000, own_messages};
    const unsigned seed = seed_ + 1000003U * static_cast<unsigned>(thread);
    Worker player{thread,
                  shape,
                  common,
                  MPI_COMM_NULL,
                  MPI_COMM_NULL,
                  Random(seed),
                  Random(seed + 1 + static_cast<unsigned>(rank_)),
                  {},
                  {},
                  {}};
    MPI_Comm_dup(MPI_COMM_WORLD, &player.alone);
    MPI_Comm_dup(MPI_COMM_WORLD, &player.side);
    if (own_messages) MPI_Comm_dup(MPI_COMM_WORLD, &player.comm);
    return player;
}

void end_worker(Worker& player, MPI_Comm common) {
    if (player.comm != common) MPI_Comm_free(&player.comm);
    MPI_Comm_free(&player.alone);
    MPI_Comm_free(&player.side);
}

void run_worker(const Settings& settings) {
    MPI_Comm common;
    MPI_Comm_dup(MPI_COMM_WORLD, &common);
    std::vector<Worker> players;
    for (int i = 0; i < settings.threads; ++i) players.push_back(make_worker(i, settings, common));
    std::vector<std::thread> others;
    const auto all_rounds = [&settings](Worker& player) {
        for (; player.round < settings.rounds; ++player.round) run_round(player);
    };
    for (int i = 1; i < settings.threads; ++i) others.emplace_back(all_rounds, std::ref(players[index(i)]));
    all_rounds(players[0]);
    for (std::thread& other : others) other.join();
    for (Worker& player : players) end_worker(player, common);
    MPI_Comm_free(&common);
}

Settings read(int argc, char** argv) {
    Settings s;
    for (int i = 1; i < argc; ++i) {
        std::sscanf(argv[i], "seed=%u", &seed_);
        std::sscanf(argv[i], "rounds=%d", &s.rounds);
        std::sscanf(argv[i], "messages=%d", &s.messages);
        std::sscanf(argv[i], "largest=%d", &s.largest);
        std::sscanf(argv[i], "threads=%d", &s.threads);
        std::sscanf(argv[i], "cancels=%d", &cancels_);
    }
    s.largest = std::min(s.largest, room);
    return s;
}

} // namespace

int main(int argc, char** argv) {
    const Settings settings = read(argc, argv);
    int provided = 0;
    MPI_Init_thread(&argc, &argv, settings.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    const size_t in_flight = index(settings.messages) * index(settings.threads);
    std::vector<char> buffer(in_flight * (index(settings.largest) + MPI_BSEND_OVERHEAD + 64));
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    run_worker(settings);
    void* memory = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&memory, &bytes);
    if (rank_ == 0)
        std::printf("random_messages: ok, %d messages, seed %u\n",
                    settings.rounds * settings.messages * settings.threads, seed_);
    MPI_Finalize();
    return 0;
}
