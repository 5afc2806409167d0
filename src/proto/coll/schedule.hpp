// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Schedule of a collective: a list of steps that start messages, copy, reduce or wait. All messages between
// two waits are in flight concurrently; a wait completes when all earlier messages are complete.
//
// A schedule only describes; ScheduleRun (schedule_run.hpp) executes it, repeatedly for a persistent
// collective. All messages of a schedule have its sequence number as tag (proto/team.hpp), so algorithms must
// send and receive between two ranks in matching order.
#pragma once

#include "proto/coll/inline_list.hpp"
#include "proto/coll/reduce_op.hpp"
#include "proto/coll/scratch_memory.hpp"
#include "proto/team.hpp"

#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace zipmpi::proto::coll {

class ScheduleRun;

struct Step {
    enum class Kind : uint8_t { send, recv, copy, combine, call, wait };

    Kind kind;
    uint32_t message; // index, for send and recv
    const void* from;
    void* to;
    int64_t amount; // bytes or elements
    Err (*function)(void*);
};

struct ScheduledMessage : Operation {
    ScheduleRun* run = nullptr; // set when the message is started
    bool open = false;          // buffer set by Schedule::fill(); not sent if it has no bytes
};

// Identifies the messages of a collective.
struct CollectiveId {
    uint32_t context; // of the team that called the collective
    uint32_t sequence;
};

class Schedule {
  public:
    explicit Schedule(const CollectiveId& id)
        : id_(id) {}
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

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
    // of the run.
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

    // --- for the run
    [[nodiscard]] uint32_t sequence() const { return id_.sequence; }
    [[nodiscard]] bool empty() const { return steps_.empty(); }
    [[nodiscard]] uint32_t step_count() const { return static_cast<uint32_t>(steps_.size()); }
    [[nodiscard]] const Step& step(uint32_t i) const { return steps_[i]; }
    [[nodiscard]] uint32_t message_count() const { return static_cast<uint32_t>(messages_.size()); }
    [[nodiscard]] ScheduledMessage& message(uint32_t i) { return messages_[i]; }
    // Removes all steps; scratch memory and the operator remain.
    void clear_steps();

  private:
    void add(const Team& team, const Operation& op, Step::Kind kind);
    [[nodiscard]] int tag_for(const Team& team) const {
        return collective_tag(id_.sequence, team.context != id_.context);
    }
    uint32_t open_last();

    CollectiveId id_;
    Err state_ = Err::success;
    ReduceOp op_;
    InlineList<Step, 4> steps_;
    std::vector<ScheduledMessage> messages_; // does not grow while the schedule runs
    ScratchMemory scratch_;
};

template <class T, class... Args>
T* Schedule::make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    std::byte* address = scratch(sizeof(T));
    return address != nullptr ? new (address) T{std::forward<Args>(args)...} : nullptr;
}

} // namespace zipmpi::proto::coll
