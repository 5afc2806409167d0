// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a few threads in every order of their atomic operations, up to a number of preemptions and of delayed
// stores. Threads are fibers of one thread; each schedule runs from the beginning. There are no timeouts:
// a missed wakeup shows as a state in which no thread can run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace explore {

struct Limits {
    int preemptions = 2;   // per schedule
    int late_stores = 0;   // per schedule
    int64_t schedules = 0; // 0: all
};

struct Result {
    int64_t schedules = 0;
    bool complete = false;
    std::string violation; // the first, with its schedule; ends the search
};

// The bodies of the threads. Shared objects live as long as these do.
using Threads = std::vector<std::function<void()>>;
Result explore(const Limits& limits, const std::function<Threads()>& make);

// Prints the result of a search that must not find a violation. Returns the exit status.
int report(const char* subject, const Result& result);

// Excludes atomics in this memory: no switches at their operations, no delayed stores to them.
void exclude(const void* memory, size_t bytes);

// Called within a thread.
void require(bool holds, const char* what);        // false: the schedule is a violation
int choose(int n);                                 // one of n; all are tried
void drain_all();                                  // a barrier on behalf of all threads
bool wait_on(const void* word, uint32_t expected); // until woken; false: the word differs
uint32_t wake_all(const void* word);
void wait_until(const std::function<bool()>& holds); // a condition that another thread makes true

class Mutex {
  public:
    void lock();
    void unlock();

  private:
    bool taken_ = false;
};

} // namespace explore
