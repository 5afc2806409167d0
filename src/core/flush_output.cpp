// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/flush_output.hpp"

#include "os/clock.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <ostream>
#include <pthread.h>
#include <unistd.h>

namespace zipmpi::core {
namespace {

constexpr uint64_t flush_timeout_ns = 2'000'000'000;
std::atomic<bool> flushed{false};

// std::cout or std::wcout of the application; this library is linked with a separate C++ runtime. Not
// flush(): a stream with enabled exceptions would throw.
template <class Stream>
void flush_cpp(const char* symbol) {
    void* const found = dlsym(RTLD_DEFAULT, symbol);
    // Without <iostream> in the application the stream is not constructed: its memory is zero.
    if (found == nullptr || *static_cast<void**>(found) == nullptr) return;
    auto* const stream = static_cast<Stream*>(found);
    if (stream->rdbuf() != nullptr) stream->rdbuf()->pubsync();
}

// Present if the application is written in Fortran. Without a unit number all units are flushed.
void flush_fortran() {
    using Flush = void (*)(int32_t*);
    if (auto* const flush = reinterpret_cast<Flush>(dlsym(RTLD_DEFAULT, "_gfortran_flush_i4"));
        flush != nullptr)
        flush(nullptr);
}

void* flush_all(void*) {
    for (const char* const symbol : {"_ZSt4cout", "_ZSt4clog"}) flush_cpp<std::ostream>(symbol);
    for (const char* const symbol : {"_ZSt5wcout", "_ZSt5wclog"}) flush_cpp<std::wostream>(symbol);
    flush_fortran();
    std::fflush(nullptr); // last: the others may write to C streams
    flushed.store(true, std::memory_order_release);
    return nullptr;
}

// Delays SIGTERM from the launcher, sent because another rank fails too, during its lifetime.
class DeferredSigterm {
  public:
    DeferredSigterm() {
        struct sigaction action {};
        action.sa_handler = [](int) { received_ = 1; };
        sigaction(SIGTERM, &action, &previous_);
    }
    ~DeferredSigterm() {
        if (received_ != 0) _exit(128 + SIGTERM);
        sigaction(SIGTERM, &previous_, nullptr);
    }
    DeferredSigterm(const DeferredSigterm&) = delete;
    DeferredSigterm& operator=(const DeferredSigterm&) = delete;

  private:
    static inline volatile std::sig_atomic_t received_ = 0;
    struct sigaction previous_ {};
};

bool start_flush_thread() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &before); // signal handlers of the application run in its own threads
    const bool started = pthread_create(&thread, nullptr, flush_all, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) pthread_detach(thread);
    return started;
}

} // namespace

void flush_program_output() noexcept {
    const DeferredSigterm deferred_sigterm;
    flushed.store(false, std::memory_order_relaxed);
    if (!start_flush_thread()) { // no thread available: flush streams that are not locked
        if (ftrylockfile(stdout) != 0) return;
        fflush_unlocked(stdout);
        funlockfile(stdout);
        return;
    }
    const uint64_t until = os::now_ns() + flush_timeout_ns;
    for (long ns = 50'000; !flushed.load(std::memory_order_acquire) && os::now_ns() < until; ns = 1'000'000) {
        const timespec delay{0, ns};
        nanosleep(&delay, nullptr);
    }
}

} // namespace zipmpi::core
