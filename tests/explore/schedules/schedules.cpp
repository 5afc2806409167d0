// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "schedules.hpp"

#include <ucontext.h>

namespace explore {
namespace {

struct LateStore {
    void* address;
    uint64_t value;
    size_t bytes;
};

struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    bool ended = false;
    const void* word = nullptr;  // futex word it sleeps on; null: none
    std::function<bool()> holds; // condition it waits for
    std::deque<LateStore> buffer;
};

struct Choice {
    int taken, of;
};

constexpr size_t stack_bytes = size_t{128} << 10;
constexpr size_t max_fibers = 8;
constexpr size_t scheduler_runs = SIZE_MAX;

Limits limits;
std::vector<Fiber> fibers;
std::unique_ptr<char[]> stacks;
ucontext_t scheduler;
size_t current = scheduler_runs;
size_t next_fiber = scheduler_runs; // chosen by the running fiber when it yields
int preempted, delayed;
std::vector<Choice> choices; // of this schedule; a prefix may be given
size_t choices_used;
std::string violation;
std::vector<std::pair<const char*, const char*>> left_out;

bool can_run(const Fiber& f) {
    if (f.ended || !f.holds) return !f.ended && f.word == nullptr;
    const size_t running = std::exchange(current, scheduler_runs); // no switches within the condition
    const bool holds = f.holds();
    current = running;
    return holds;
}

bool is_excluded(const void* address) {
    const auto* const at = static_cast<const char*>(address);
    return std::any_of(left_out.begin(), left_out.end(),
                       [&](const auto& m) { return m.first <= at && at < m.second; });
}

void apply(const LateStore& s) { std::memcpy(s.address, &s.value, s.bytes); }

void drain(Fiber& f) {
    for (const LateStore& s : f.buffer) apply(s);
    f.buffer.clear();
}

int decide(int n) {
    if (n <= 1) return 0;
    if (choices_used == choices.size()) choices.push_back({0, n});
    const Choice c = choices[choices_used++];
    if (c.of != n) {
        std::fprintf(stderr, "the code under test is not deterministic: %d choices, then %d\n", c.of, n);
        std::abort();
    }
    return c.taken;
}

void to_scheduler() { swapcontext(&fibers[current].context, &scheduler); }

void run_body() {
    Fiber& f = fibers[current];
    f.body();
    drain(f);
    f.ended = true;
    to_scheduler();
}

std::vector<size_t> runnable_fibers() {
    std::vector<size_t> all;
    for (size_t i = 0; i < fibers.size(); ++i)
        if (can_run(fibers[i])) all.push_back(i);
    return all;
}

void prepare(const Threads& threads) {
    choices_used = 0;
    preempted = delayed = 0;
    next_fiber = scheduler_runs;
    fibers.clear();
    fibers.resize(threads.size());
    for (size_t i = 0; i < fibers.size(); ++i) {
        Fiber& f = fibers[i];
        f.body = threads[i];
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = stacks.get() + i * stack_bytes;
        f.context.uc_stack.ss_size = stack_bytes;
        f.context.uc_link = &scheduler;
        makecontext(&f.context, run_body, 0);
    }
}

// Called when no fiber can run: makes delayed stores visible. Returns false if there were none.
bool settle() {
    bool any = false;
    for (Fiber& f : fibers) {
        any = any || !f.buffer.empty();
        drain(f);
    }
    return any;
}

void run_schedule(const Threads& threads) {
    prepare(threads);
    while (violation.empty()) {
        const std::vector<size_t> can = runnable_fibers();
        if (can.empty() && settle()) continue;
        if (can.empty()) break;
        const bool given = std::count(can.begin(), can.end(), next_fiber) != 0;
        current = given ? next_fiber : can[static_cast<size_t>(decide(static_cast<int>(can.size())))];
        next_fiber = scheduler_runs;
        swapcontext(&scheduler, &fibers[current].context);
        current = scheduler_runs;
    }
    for (size_t i = 0; violation.empty() && i < fibers.size(); ++i)
        if (!fibers[i].ended) violation = "thread " + std::to_string(i) + " sleeps forever";
}

// Advances to the next schedule in order. Returns false after the last one.
bool advance() {
    while (!choices.empty() && choices.back().taken + 1 == choices.back().of) choices.pop_back();
    if (choices.empty()) return false;
    ++choices.back().taken;
    return true;
}

} // namespace

void require(bool holds, const char* what) {
    if (holds) return;
    violation = what;
    to_scheduler(); // does not return
}

int choose(int n) { return decide(n); }

void exclude(const void* memory, size_t bytes) {
    const auto* const begin = static_cast<const char*>(memory);
    left_out.emplace_back(begin, begin + bytes);
}

// Continues, switches to another thread, or makes a delayed store of another thread visible.
void point(const void* address) {
    if (current == scheduler_runs || is_excluded(address)) return; // outside the threads
    std::vector<size_t> others;
    if (preempted < limits.preemptions)
        for (const size_t i : runnable_fibers())
            if (i != current) others.push_back(i);
    std::vector<size_t> late;
    for (size_t i = 0; i < fibers.size(); ++i)
        if (i != current && !fibers[i].buffer.empty()) late.push_back(i);
    const auto taken = static_cast<size_t>(decide(static_cast<int>(1 + others.size() + late.size())));
    if (taken == 0) return;
    if (taken <= others.size()) {
        ++preempted;
        next_fiber = others[taken - 1];
        return to_scheduler();
    }
    Fiber& f = fibers[late[taken - 1 - others.size()]];
    apply(f.buffer.front());
    f.buffer.pop_front();
}

uint64_t load(const void* address, size_t bytes) {
    uint64_t v = 0;
    std::memcpy(&v, address, bytes);
    if (current == scheduler_runs) return v;
    for (const LateStore& s : fibers[current].buffer)
        if (s.address == address) v = s.value;
    return v;
}

void store(void* address, uint64_t value, size_t bytes, bool at_once) {
    if (at_once) drain_own();
    if (!at_once && current != scheduler_runs && !is_excluded(address)) {
        std::deque<LateStore>& buffer = fibers[current].buffer;
        if (!buffer.empty() || (delayed < limits.late_stores && decide(2) == 1)) {
            ++delayed;
            buffer.push_back({address, value, bytes});
            return;
        }
    }
    std::memcpy(address, &value, bytes);
}

void drain_own() {
    if (current != scheduler_runs) drain(fibers[current]);
}

void drain_all() {
    point();
    settle();
}

bool wait_on(const void* word, uint32_t expected) {
    point();
    drain_own();
    if (std::memcmp(word, &expected, sizeof expected) != 0) return false;
    fibers[current].word = word;
    to_scheduler();
    return true;
}

uint32_t wake_all(const void* word) {
    point();
    drain_own();
    uint32_t woken = 0;
    for (Fiber& f : fibers)
        if (f.word == word) {
            f.word = nullptr;
            ++woken;
        }
    return woken;
}

void wait_until(const std::function<bool()>& holds) {
    point();
    drain_own();
    if (holds()) return;
    fibers[current].holds = holds;
    to_scheduler();
    fibers[current].holds = nullptr;
}

void Mutex::lock() {
    point();
    drain_own();
    while (taken_) wait_until([this] { return !taken_; });
    taken_ = true;
}

void Mutex::unlock() {
    drain_own();
    taken_ = false;
    point();
}

Result explore(const Limits& given, const std::function<Threads()>& make) {
    limits = given;
    choices.clear();
    violation.clear();
    if (stacks == nullptr) stacks = std::make_unique<char[]>(max_fibers * stack_bytes);
    Result r;
    do {
        run_schedule(make());
        ++r.schedules;
        if (!violation.empty()) {
            r.violation = violation + "; choices";
            for (const Choice& c : choices) r.violation += " " + std::to_string(c.taken);
            return r;
        }
        r.complete = !advance();
    } while (!r.complete && (limits.schedules == 0 || r.schedules < limits.schedules));
    return r;
}

int report(const char* subject, const Result& result) {
    std::printf("%s: %lld schedules%s\n", subject, static_cast<long long>(result.schedules),
                result.complete ? ", all" : "");
    if (result.violation.empty()) return 0;
    std::printf("VIOLATION %s\n", result.violation.c_str());
    return 1;
}

} // namespace explore
