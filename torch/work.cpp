// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <algorithm>
#include <sched.h>

namespace zipmpi_torch {
namespace {

constexpr auto spin_time = Milliseconds(20); // then the waiting thread sleeps between tests
constexpr auto wait_pause = std::chrono::microseconds(100);
constexpr int watcher_spins = 20;
constexpr auto watcher_pause = std::chrono::microseconds(50);
std::atomic<bool> timed_out{false};

} // namespace

bool Operation::test() {
    if (is_done()) return true;
    c10::intrusive_ptr<c10::ivalue::Future> future;
    {
        const std::lock_guard lock(mutex_);
        if (is_done()) return true;
        int flag = 0;
        MPI_Status status;
        const int result = MPI_Test(&request, &flag, &status);
        if (result == MPI_SUCCESS && flag == 0) return false;
        complete(result, status.MPI_SOURCE);
        future = future_;
    }
    if (future && error_ != nullptr) future->setError(error_);
    if (future && error_ == nullptr) future->markCompleted(c10::IValue(tensors));
    return true;
}

void Operation::complete(int status, int source) {
    try {
        check(status);
        source_ = source;
        if (finish) {
            const at::NoGradGuard no_grad;
            finish();
        }
    } catch (...) {
        error_ = std::current_exception();
    }
    buffers.clear();
    done_.store(true, std::memory_order_release);
}

c10::intrusive_ptr<c10::ivalue::Future> Operation::future() {
    const std::lock_guard lock(mutex_);
    if (future_) return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    if (is_done() && error_ != nullptr) future_->setError(error_);
    if (is_done() && error_ == nullptr) future_->markCompleted(c10::IValue(tensors));
    return future_;
}

// Never destroyed: operations may be pending when the interpreter exits.
Watcher& Watcher::instance() {
    static auto* const watcher = new Watcher;
    return *watcher;
}

void Watcher::add(std::shared_ptr<Operation> operation) {
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(operation));
    if (!thread_.joinable() && !stopping_) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
}

void Watcher::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
}

void Watcher::run() {
    std::vector<std::shared_ptr<Operation>> watched;
    for (int idle = 0;;) {
        {
            std::unique_lock lock(mutex_);
            if (watched.empty()) changed_.wait(lock, [&] { return stopping_ || !added_.empty(); });
            if (stopping_) return;
            watched.insert(watched.end(), added_.begin(), added_.end());
            added_.clear();
        }
        const size_t before = watched.size();
        watched.erase(std::remove_if(watched.begin(), watched.end(), [](const auto& o) { return o->test(); }),
                      watched.end());
        idle = watched.size() < before ? 0 : idle + 1;
        if (idle > watcher_spins)
            std::this_thread::sleep_for(watcher_pause);
        else
            sched_yield();
    }
}

MpiWork::MpiWork(c10d::OpType type, std::vector<at::Tensor> result, Milliseconds timeout)
    : Work(-1, type)
    , operation(std::make_shared<Operation>(std::move(result)))
    , timeout_(timeout) {}

MpiWork::~MpiWork() {
    if (!watched_ && operation->request != MPI_REQUEST_NULL && !operation->is_done())
        Watcher::instance().add(operation);
}

bool MpiWork::wait(Milliseconds timeout) {
    if (timeout <= Milliseconds(0)) timeout = timeout_;
    constexpr int tests_per_look = 64;
    const auto begin = Clock::now();
    for (int i = 0; !operation->test(); ++i) {
        if (i % tests_per_look != 0 && i > 0) continue;
        const auto elapsed = Clock::now() - begin;
        if (elapsed >= timeout) {
            timed_out = true;
            TORCH_CHECK(false, "zipmpi: ", c10d::opTypeToString(opType_), " did not complete within ",
                        timeout.count(), " ms");
        }
        if (elapsed < spin_time) continue;
        std::this_thread::sleep_for(wait_pause);
        i = -1;
    }
    if (operation->error() != nullptr) std::rethrow_exception(operation->error());
    return true;
}

c10::intrusive_ptr<c10::ivalue::Future> MpiWork::getFuture() {
    auto future = operation->future();
    if (!watched_ && !operation->is_done()) Watcher::instance().add(operation);
    watched_ = true;
    return future;
}

bool MpiWork::any_timed_out() { return timed_out; }

} // namespace zipmpi_torch
