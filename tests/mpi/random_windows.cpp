// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random one-sided operations against a sequential model. All ranks draw the operations of all ranks from one
// seed and apply them to a model of all windows; after each epoch a rank compares its window and its fetched
// values with the model. Every origin has private slots in every window; one slot is shared by all, with one
// commutative operation.
// usage: random_windows seed=N rounds=N threads=N progress=N
// progress: every N rounds prints the round of the first thread of rank 0, and the operations of all ranks so
// far.
#include "random_windows.hpp"
#include "check.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <thread>

namespace {

enum Sync { fence, post_start, lock_shared, lock_exclusive, lock_all, flushes, syncs };
enum Memory { created, arena_buffer, allocated, shared, dynamic, memories };

constexpr int slots = 4; // per origin, followed by one for all

struct Worker {
    MPI_Comm comm;
    Random random; // one seed for all ranks
    int rank = 0, size = 1;
    int slot_bytes = 0;
    std::vector<std::vector<char>> model; // window of each rank
    MPI_Win win = MPI_WIN_NULL;
    char* base = nullptr;
    std::vector<char> own;
    std::vector<MPI_Aint> addresses;
    Memory memory{};
    bool together = true;               // all ranks are on one host
    std::deque<std::vector<char>> kept; // origin buffers of an epoch
    long operations = 0;                // of all ranks

    [[nodiscard]] size_t window_bytes() const {
        return static_cast<size_t>(size * slots + 1) * static_cast<size_t>(slot_bytes);
    }

    // Integer bits may be no valid floating-point value: floating-point types have separate slots.
    const Type* type_in(int slot) {
        if (slot % 2 == 1) return &types[slot == 1 ? integer_types : integer_types + 1];
        return &types[below(random, integer_types)];
    }
    void open();
    void close();
    Step draw(int origin, bool for_all, int slot, MPI_Op common, const Type* common_type);
    std::vector<Step> draw_all(int origin, uint64_t round_seed);
    void simulate(const Step& s, int origin, std::vector<char>* fetched);
    void run(const Step& s, Sync sync, std::vector<char>& in);
    void play_round();
    [[nodiscard]] size_t place(int origin, int slot) const {
        return static_cast<size_t>(slot == slots ? size * slots : origin * slots + slot) *
               static_cast<size_t>(slot_bytes);
    }
};

void Worker::open() {
    memory = static_cast<Memory>(below(random, memories));
    if (memory == shared && !together) memory = allocated;
    slot_bytes = below(random, 4) == 0 ? 48 * 1024 : 512;
    const auto bytes = static_cast<MPI_Aint>(window_bytes());
    const MPI_Info info = MPI_INFO_NULL;
    if (memory == created || memory == dynamic) own.assign(window_bytes() + 8, 0);
    if (memory == created) {
        base = own.data();
        MPI_Win_create(base, bytes, 1, info, comm, &win);
    } else if (memory == arena_buffer) {
        MPI_Alloc_mem(bytes + 65536, info, &base);
        MPI_Win_create(base, bytes, 1, info, comm, &win);
    } else if (memory == allocated) {
        MPI_Win_allocate(bytes, 1, info, comm, &base, &win);
    } else if (memory == shared) {
        MPI_Win_allocate_shared(bytes, 1, info, comm, &base, &win);
    } else {
        base = own.data();
        MPI_Win_create_dynamic(info, comm, &win);
        MPI_Win_attach(win, base, bytes);
    }
    addresses.assign(static_cast<size_t>(size), 0);
    if (memory == dynamic) {
        MPI_Aint mine = 0;
        MPI_Get_address(base, &mine);
        MPI_Allgather(&mine, 1, MPI_AINT, addresses.data(), 1, MPI_AINT, comm);
    }
    model.assign(static_cast<size_t>(size), std::vector<char>(window_bytes()));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    std::memset(base, 0, window_bytes());
    MPI_Win_unlock(rank, win);
    MPI_Barrier(comm);
}

void Worker::close() {
    if (memory == dynamic) MPI_Win_detach(win, base);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS);
    if (memory == arena_buffer) MPI_Free_mem(base);
}

Step Worker::draw(int, bool for_all, int slot, MPI_Op common, const Type* common_type) {
    const Type* element = for_all ? common_type : type_in(slot);
    auto kind = for_all ? accumulate : static_cast<Kind>(below(random, kinds));
    if (kind == compare_and_swap && !element->integer) kind = fetch_and_op;
    const bool single = kind == fetch_and_op || kind == compare_and_swap;
    const int room = slot_bytes / static_cast<int>(element->bytes);
    int count = single ? 1 : 1 + static_cast<int>(below(random, static_cast<uint64_t>(room)));
    if (for_all) count = std::min(count, 64);
    MPI_Op op = common;
    if (!for_all)
        op = element->integer ? integer_ops[below(random, std::size(integer_ops))]
                              : other_ops[below(random, std::size(other_ops))];
    const int target = static_cast<int>(below(random, static_cast<uint64_t>(size)));
    const bool request = below(random, 3) == 0;
    Step s{kind,
           target,
           slot,
           request,
           element,
           op,
           Layout(random, room, count),
           Layout(random, room, count),
           Layout(random, room, count),
           {}};
    s.data.resize(element->bytes * static_cast<size_t>(std::max(count, 2)));
    for (size_t i = 0; i < s.data.size(); i += element->bytes) element->value(random, &s.data[i]);
    if (kind == compare_and_swap && below(random, 2) == 0) // the expected current value
        std::memset(s.data.data(), 0, element->bytes);
    return s;
}

// A slot is used by one put, get or swap, or by several accumulates of one type, whose order MPI preserves.
std::vector<Step> Worker::draw_all(int origin, uint64_t round_seed) {
    const Random saved = random;
    random.seed(round_seed);
    const Type* const common_type = &types[below(random, integer_types)];
    const MPI_Op common = below(random, 2) == 0 ? MPI_SUM : MPI_MAX;
    random.seed(round_seed + 1 + static_cast<uint64_t>(origin));
    std::vector<Step> steps;
    for (int slot = 0; slot < slots; ++slot) {
        if (below(random, 3) == 0) continue;
        steps.push_back(draw(origin, false, slot, common, common_type));
        const Step first = steps.back();
        for (int more = 0; (first.kind == accumulate || first.kind == get_accumulate) && more < 2; ++more) {
            Step again = draw(origin, true, slot, first.op, first.element);
            again.kind = more == 0 ? accumulate : get_accumulate;
            again.target = first.target;
            steps.push_back(again);
        }
    }
    for (uint64_t n = below(random, 4); n > 0; --n)
        steps.push_back(draw(origin, true, slots, common, common_type));
    random = saved;
    return steps;
}

void Worker::simulate(const Step& s, int origin, std::vector<char>* fetched) {
    char* const slot = &model[static_cast<size_t>(s.target)][place(origin, s.slot)];
    const size_t bytes = s.element->bytes;
    for (size_t i = 0; i < s.there.places.size(); ++i) {
        char* const at = slot + static_cast<size_t>(s.there.places[i]) * bytes;
        if (fetched != nullptr) fetched->insert(fetched->end(), at, at + bytes);
        const char* const data = &s.data[i * bytes];
        if (s.kind == put) std::memcpy(at, data, bytes);
        if (s.kind == accumulate || s.kind == get_accumulate || s.kind == fetch_and_op)
            s.element->combine(s.op, data, at);
        if (s.kind == compare_and_swap && std::memcmp(at, data, bytes) == 0)
            std::memcpy(at, &s.data[bytes], bytes);
    }
}

// in: destination of fetched data, in the given layout.
void Worker::run(const Step& s, Sync sync, std::vector<char>& in) {
    const MPI_Datatype element = s.element->handle;
    const size_t bytes = s.element->bytes;
    int count = 0, first = 0, target_count = 0, target_first = 0, result_count = 0, result_first = 0;
    const MPI_Datatype origin_type = s.here.make(element, count, first);
    const MPI_Datatype target_type = s.there.make(element, target_count, target_first);
    const MPI_Datatype result_type = s.result.make(element, result_count, result_first);
    const bool passive = sync != fence && sync != post_start;
    const MPI_Aint disp = addresses[static_cast<size_t>(s.target)] +
                          static_cast<MPI_Aint>(place(rank, s.slot)) +
                          target_first * static_cast<MPI_Aint>(bytes);
    std::vector<char>& out = kept.emplace_back(static_cast<size_t>(slot_bytes) + 64);
    in.assign(static_cast<size_t>(slot_bytes) + 64, 'x');
    for (size_t i = 0; i < s.here.places.size(); ++i)
        std::memcpy(&out[static_cast<size_t>(s.here.places[i]) * bytes], &s.data[i * bytes], bytes);
    const char* const from = &out[static_cast<size_t>(first) * bytes];
    char* const to = &in[static_cast<size_t>(result_first) * bytes];
    if (sync == lock_shared || sync == lock_exclusive)
        MPI_Win_lock(sync == lock_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, s.target, 0, win);
    MPI_Request request = MPI_REQUEST_NULL;
    const bool by_request = s.request && passive;
    const int n = target_count;
    if (s.kind == put)
        by_request ? MPI_Rput(from, count, origin_type, s.target, disp, n, target_type, win, &request)
                   : MPI_Put(from, count, origin_type, s.target, disp, n, target_type, win);
    if (s.kind == get)
        by_request ? MPI_Rget(to, result_count, result_type, s.target, disp, n, target_type, win, &request)
                   : MPI_Get(to, result_count, result_type, s.target, disp, n, target_type, win);
    if (s.kind == accumulate)
        by_request
            ? MPI_Raccumulate(from, count, origin_type, s.target, disp, n, target_type, s.op, win, &request)
            : MPI_Accumulate(from, count, origin_type, s.target, disp, n, target_type, s.op, win);
    if (s.kind == get_accumulate)
        by_request ? MPI_Rget_accumulate(from, count, origin_type, to, result_count, result_type, s.target,
                                         disp, n, target_type, s.op, win, &request)
                   : MPI_Get_accumulate(from, count, origin_type, to, result_count, result_type, s.target,
                                        disp, n, target_type, s.op, win);
    if (s.kind == fetch_and_op) MPI_Fetch_and_op(s.data.data(), to, element, s.target, disp, s.op, win);
    if (s.kind == compare_and_swap)
        MPI_Compare_and_swap(&s.data[bytes], s.data.data(), to, element, s.target, disp, win);
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
    const bool fetches = s.kind == get || s.kind >= get_accumulate;
    if (sync == lock_shared || sync == lock_exclusive) MPI_Win_unlock(s.target, win);
    if (sync == flushes) MPI_Win_flush(s.target, win);
    if (sync == lock_all) fetches ? MPI_Win_flush_local(s.target, win) : MPI_Win_flush_local_all(win);
    drop(origin_type, element);
    drop(target_type, element);
    drop(result_type, element);
}

void Worker::play_round() {
    const auto sync = static_cast<Sync>(below(random, syncs));
    const uint64_t round_seed = random();
    std::vector<char> expected, fetched;
    std::vector<Step> mine;
    for (int origin = 0; origin < size; ++origin) {
        const std::vector<Step> steps = draw_all(origin, round_seed);
        for (const Step& s : steps) {
            const bool fetches = s.kind == get || s.kind >= get_accumulate;
            simulate(s, origin, origin == rank && fetches ? &expected : nullptr);
            if (origin == rank) mine.push_back(s);
        }
        operations += static_cast<long>(steps.size());
    }
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &group);
    if (sync == fence) MPI_Win_fence(0, win);
    if (sync == post_start) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
    }
    if (sync == lock_all || sync == flushes) MPI_Win_lock_all(0, win);
    std::deque<std::vector<char>> results;
    for (const Step& s : mine) run(s, sync, results.emplace_back());
    if (sync == fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (sync == post_start) {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    if (sync == lock_all || sync == flushes) MPI_Win_unlock_all(win);
    MPI_Group_free(&group);
    MPI_Barrier(comm);
    for (size_t i = 0; i < mine.size(); ++i) {
        const Step& s = mine[i];
        if (s.kind != get && s.kind < get_accumulate) continue;
        for (const int p : s.result.places) {
            const char* const at = &results[i][static_cast<size_t>(p) * s.element->bytes];
            fetched.insert(fetched.end(), at, at + s.element->bytes);
        }
    }
    kept.clear();
    CHECK(fetched == expected);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(std::memcmp(base, model[static_cast<size_t>(rank)].data(), window_bytes()) == 0);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(comm);
}

// progress: rounds between two reports, 0: none.
void run_worker(MPI_Comm comm, uint64_t seed, int rounds, bool together, int progress) {
    Worker p{};
    p.together = together;
    p.comm = comm;
    p.random.seed(seed);
    p.rank = rank_;
    p.size = size_;
    for (int done = 0; done < rounds;) {
        p.open();
        for (int i = 0; i < 20 && done < rounds; ++i) {
            p.play_round();
            if (++done; progress > 0 && done % progress == 0) {
                std::printf("random_windows: %d rounds, %ld operations\n", done, p.operations);
                std::fflush(stdout);
            }
        }
        p.close();
    }
}

long argument(int argc, char** argv, const std::string& name, long preset) {
    for (int i = 1; i < argc; ++i)
        if (std::string(argv[i]).rfind(name + "=", 0) == 0) return std::atol(argv[i] + name.size() + 1);
    return preset;
}

} // namespace

int main(int argc, char** argv) {
    const auto threads = static_cast<int>(argument(argc, argv, "threads", 1));
    Session session(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    const auto seed = static_cast<uint64_t>(argument(argc, argv, "seed", 1));
    const auto rounds = static_cast<int>(argument(argc, argv, "rounds", 100));
    if (rank_ == 0) std::printf("random_windows: seed=%llu\n", static_cast<unsigned long long>(seed));
    const bool together = on_one_host();
    std::vector<MPI_Comm> comms(static_cast<size_t>(threads));
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
        others.emplace_back(run_worker, comms[static_cast<size_t>(t)], seed + static_cast<uint64_t>(t),
                            rounds, together, 0);
    run_worker(comms[0], seed, rounds, together,
               rank_ == 0 ? static_cast<int>(argument(argc, argv, "progress", 0)) : 0);
    for (std::thread& t : others) t.join();
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    session.end("random_windows");
}
