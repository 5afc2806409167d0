// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A communication in progress. MPI calls start in the thread of the caller; a thread that waits tests the
// request. Operations with a future, and those whose Work was dropped, are tested by one watcher thread per
// process, so that futures complete without wait().
#pragma once

#include "mpi_types.hpp"

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace zipmpi_torch {

using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Request, buffers and result of one call. Kept alive until the request is complete.
class Operation {
  public:
    explicit Operation(std::vector<at::Tensor> result)
        : tensors(std::move(result)) {}
    bool test(); // true: complete, with or without an error
    [[nodiscard]] bool is_done() const { return done_.load(std::memory_order_acquire); }
    [[nodiscard]] std::exception_ptr error() const { return is_done() ? error_ : nullptr; }
    [[nodiscard]] int source() const { return source_; }
    c10::intrusive_ptr<c10::ivalue::Future> future();

    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<at::Tensor> tensors; // result
    std::vector<at::Tensor> buffers; // memory that the call uses
    std::vector<MPI_Count> counts;   // arrays that the call uses
    std::vector<MPI_Aint> displacements;
    std::function<void()> finish; // after the last byte: copies, division of AVG

  private:
    void complete(int status, int source);

    std::mutex mutex_;
    std::atomic<bool> done_{false};
    std::exception_ptr error_;
    int source_ = -1;
    c10::intrusive_ptr<c10::ivalue::Future> future_;
};

class Watcher {
  public:
    static Watcher& instance();
    void add(std::shared_ptr<Operation> operation);
    void stop(); // before MPI_Finalize

  private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::shared_ptr<Operation>> added_;
    std::thread thread_;
    bool stopping_ = false;
};

class MpiWork : public c10d::Work {
  public:
    MpiWork(c10d::OpType type, std::vector<at::Tensor> result, Milliseconds timeout);
    ~MpiWork() override;
    bool isCompleted() override { return operation->test(); }
    bool isSuccess() const override { return operation->is_done() && operation->error() == nullptr; }
    std::exception_ptr exception() const override { return operation->error(); }
    int sourceRank() const override { return operation->source(); }
    std::vector<at::Tensor> result() override { return operation->tensors; }
    bool wait(Milliseconds timeout) override;
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
    static bool any_timed_out();

    const std::shared_ptr<Operation> operation;

  private:
    Milliseconds timeout_;
    bool watched_ = false;
};

} // namespace zipmpi_torch
