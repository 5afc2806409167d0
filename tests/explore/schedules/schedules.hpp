// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a few threads in every order of their operations on atomics, up to a number of preemptions and of
// stores that become visible late. Threads are fibers of one thread; each schedule is run from the beginning.
// There are no time limits: a sleep that nobody ends is found as threads of which none can go on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace explore {

struct Limits {
    int preemptions = 2;   // per schedule
    int late_stores = 0;   // likewise
    int64_t schedules = 0; // 0: all
};

struct Result {
    int64_t schedules = 0;
    bool complete = false;
    std::string violation; // the first, with its schedule; ends the search
};

// The bodies of the threads. What they share lives as long as these do.
using Threads = std::vector<std::function<void()>>;
Result explore(const Limits& limits, const std::function<Threads()>& make);

// Prints the result of a search that must not find a violation. The exit status.
int report(const char* subject, const Result& result);

// Atomics in this memory decide nothing: they are no points of choice, and no store to them is late.
void leave_out(const void* memory, size_t bytes);

// Within a thread.
void require(bool holds, const char* what);        // else the schedule is a violation
int choose(int n);                                 // one of n; all are tried
void drain_all();                                  // a barrier on behalf of all threads
bool wait_on(const void* word, uint32_t expected); // until somebody wakes; false: the word is another
uint32_t wake_all(const void* word);
void wait_until(const std::function<bool()>& holds); // which another thread makes true

class Mutex {
  public:
    void lock();
    void unlock();

  private:
    bool taken_ = false;
};

} // namespace explore
