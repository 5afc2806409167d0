// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Schedule of a collective: a list of steps that start messages, copy, reduce or wait. All messages between
// two waits are in flight concurrently; a wait completes when all earlier messages are complete. Completed
// messages advance the schedule, so a waiting schedule needs no polling.
//
// A schedule is built once, then started; a persistent collective starts it repeatedly. All messages of a
// schedule have its sequence number as tag (proto/team.hpp), so algorithms must send and receive between two
// ranks in matching order.
//
// Threads: under the lock of the progress engine. A running schedule must not be moved.
#pragma once

#include "proto/coll/inline_list.hpp"
#include "proto/coll/reduce_op.hpp"
#include "proto/p2p/progress_hooks.hpp"
#include "proto/team.hpp"

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace zipmpi::proto::coll {

class Schedule : private DeferredTask {
  public:
    // blocking: run by its caller, so a step may wait in shared memory
    enum class Form { blocking, detached };

    explicit Schedule(Team& team, Form form = Form::blocking);
    // A schedule within another collective: runs before its messages and shares its sequence number.
    struct SubSchedule {
        uint32_t sequence;
    };
    Schedule(Team& team, SubSchedule sub);
    ~Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    // --- building
    [[nodiscard]] bool may_block() const { return form_ == Form::blocking; }
    // In a schedule that may block: runs all steps so far, so that the caller can continue without steps.
    // Returns false if the schedule has failed; then the caller must not continue.
    bool run_pending() {
        if (!steps_.empty()) run_pending_steps();
        return state_ == Err::success;
    }
    // Records the error of an operation that was executed while building.
    void record_error(Err error) {
        if (earlier_error_ == Err::success) earlier_error_ = error;
    }
    void send(const Team& team, const void* data, size_t bytes, int to);
    void recv(const Team& team, void* data, size_t bytes, int from);
    // Adds a message whose buffer a later call() step sets with fill(); if it has no bytes it is not sent.
    // Returns the index of the message.
    [[nodiscard]] uint32_t open_send(const Team& team, int to);
    [[nodiscard]] uint32_t open_recv(const Team& team, int from);
    void fill(uint32_t message, std::byte* data, size_t bytes);
    void copy(void* to, const void* from, size_t bytes);
    void set_op(const ReduceOp& operation) { op_ = operation; }
    [[nodiscard]] const ReduceOp& op() const { return op_; }
    // inout = in op inout, with the operator set last
    void combine(const void* in, void* inout, int64_t count);
    // Calls a function as a step. The argument must live as long as the schedule; an error becomes the error
    // of the schedule.
    void call(Err (*function)(void*), void* argument);
    void wait();
    // Memory that lives as long as the schedule. Null if out of memory: then the schedule must not be
    // started, and state() has the error.
    [[nodiscard]] std::byte* scratch(size_t bytes);
    template <class T, class... Args>
    [[nodiscard]] T* make(Args&&... args);
    [[nodiscard]] Err state() const { return state_; }
    void fail_build(Err why) {
        if (state_ == Err::success) state_ = why;
    }

    // --- running
    // Sets the callback at the end of a run; it may destroy the schedule.
    void on_end(void (*function)(void*), void* argument) {
        on_end_ = function;
        on_end_argument_ = argument;
    }
    void start();
    Err run(); // starts and waits for completion
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] uint32_t sequence() const { return sequence_; }
    // A pending message, or null.
    [[nodiscard]] const Operation* pending_operation() const;

  private:
    enum class Kind : uint8_t { send, recv, copy, combine, call, wait };
    struct Step {
        Kind kind;
        uint32_t message; // index, for send and recv
        const void* from;
        void* to;
        int64_t amount; // bytes or elements
        Err (*function)(void*);
    };
    struct ScheduledMessage : Operation {
        Schedule* schedule = nullptr;
        bool open = false; // buffer set by fill(); not sent if it has no bytes
    };

    void run_pending_steps();
    void add(const Team& team, Operation op, Kind kind);
    void perform(const Step& step);
    void start_message(const Step& step);
    uint32_t open_last();
    void advance();
    void finish();
    void message_done(ScheduledMessage& m);
    void abandon_receives();
    [[nodiscard]] const Operation* message_at(uint32_t i) const;
    static void on_message(Operation& op);

    ProgressEngine& engine_;
    Form form_;
    uint32_t context_; // of the team that called the collective
    uint32_t sequence_;
    uint32_t next_step_ = 0;
    uint32_t started_ = 0;          // messages started in this run
    uint32_t completed_before_ = 0; // messages before this index are complete
    uint32_t in_flight_ = 0;
    bool advancing_ = false;
    bool done_ = false;
    bool aborted_ = false; // a send failed or a peer failed: pending receives are abandoned
    Err state_ = Err::success;
    Err error_ = Err::success;
    Err earlier_error_ = Err::success; // of steps run by run_pending()
    ReduceOp op_;
    void (*on_end_)(void*) = nullptr;
    void* on_end_argument_ = nullptr;
    InlineList<Step, 4> steps_;
    std::vector<ScheduledMessage> messages_; // does not grow while the schedule runs
    alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) std::byte first_scratch_[128];
    size_t first_scratch_used_ = 0;
    std::vector<std::unique_ptr<std::byte[]>> scratch_;
};

template <class T, class... Args>
T* Schedule::make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    std::byte* address = scratch(sizeof(T));
    return address != nullptr ? new (address) T{std::forward<Args>(args)...} : nullptr;
}

} // namespace zipmpi::proto::coll
