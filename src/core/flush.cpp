// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/flush.hpp"

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

constexpr uint64_t patience_ns = 2'000'000'000;
std::atomic<bool> flushed{false};

// The program's own std::cout or std::wcout; this library has a C++ runtime of its own. Not flush(): a stream
// whose exceptions are on would throw.
template <class Stream>
void flush_cpp(const char* symbol) {
    void* const found = dlsym(RTLD_DEFAULT, symbol);
    // Without <iostream> in the program nobody has made the stream: its memory is zero.
    if (found == nullptr || *static_cast<void**>(found) == nullptr) return;
    auto* const stream = static_cast<Stream*>(found);
    if (stream->rdbuf() != nullptr) stream->rdbuf()->pubsync();
}

// The program has it if it is written in Fortran. Without the number of a unit: all units.
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
    std::fflush(nullptr); // last: the others may write into streams of C
    flushed.store(true, std::memory_order_release);
    return nullptr;
}

// While it lives, a request of the launcher to end, because another rank fails too, waits.
class PostponedEnd {
  public:
    PostponedEnd() {
        struct sigaction noted {};
        noted.sa_handler = [](int) { asked_ = 1; };
        sigaction(SIGTERM, &noted, &before_);
    }
    ~PostponedEnd() {
        if (asked_ != 0) _exit(128 + SIGTERM);
        sigaction(SIGTERM, &before_, nullptr);
    }
    PostponedEnd(const PostponedEnd&) = delete;
    PostponedEnd& operator=(const PostponedEnd&) = delete;

  private:
    static inline volatile std::sig_atomic_t asked_ = 0;
    struct sigaction before_ {};
};

bool start_flushing() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &before); // handlers of the program belong to its own threads
    const bool started = pthread_create(&thread, nullptr, flush_all, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) pthread_detach(thread);
    return started;
}

} // namespace

void flush_program_output() noexcept {
    const PostponedEnd end;
    flushed.store(false, std::memory_order_relaxed);
    if (!start_flushing()) { // no thread to be had: at least what is free
        if (ftrylockfile(stdout) != 0) return;
        fflush_unlocked(stdout);
        funlockfile(stdout);
        return;
    }
    const uint64_t until = os::now_ns() + patience_ns;
    for (long ns = 50'000; !flushed.load(std::memory_order_acquire) && os::now_ns() < until; ns = 1'000'000) {
        const timespec moment{0, ns};
        nanosleep(&moment, nullptr);
    }
}

} // namespace zipmpi::core
