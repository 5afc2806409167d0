// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A collective as a list of steps: messages to start, bytes to copy and to combine, and waits. Between two
// waits everything is under way at once; what follows a wait starts when all messages before it are done. The
// completion of a message brings the schedule on, so one that waits costs nothing.
//
// A schedule is built once, then started; a persistent collective starts it again and again. All messages of
// one schedule have its sequence number as tag (proto/team.hpp): algorithms send and receive between two
// ranks in the same order.
//
// Threads: under the lane's lock. A schedule stays where it is while it runs.
#pragma once

#include "proto/coll/combine.hpp"
#include "proto/coll/inline_list.hpp"
#include "proto/p2p/deferred.hpp"
#include "proto/team.hpp"

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace zipmpi::proto::coll {

class Schedule : private Deferred {
  public:
    // A blocking one is run by its caller, so a step may wait in shared memory.
    enum class Form { blocking, detached };

    explicit Schedule(Team& team, Form form = Form::blocking);
    // A part of another collective, that runs before its messages and shares its number.
    struct Part {
        uint32_t sequence;
    };
    Schedule(Team& team, Part part);
    ~Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    // --- building
    [[nodiscard]] bool may_block() const { return form_ == Form::blocking; }
    // In a schedule that may block: everything so far is done now, so that what follows can be done at once.
    // False: it cannot, and must not.
    bool settle() {
        if (!steps_.empty()) settle_steps();
        return state_ == Err::success;
    }
    // What was done at once has failed.
    void record(Err error) {
        if (earlier_ == Err::success) earlier_ = error;
    }
    void send(const Team& team, const void* data, size_t bytes, int to);
    void recv(const Team& team, void* data, size_t bytes, int from);
    // A message that a function called before it fills in; one of no bytes is left out. Each gives the number
    // of the message.
    [[nodiscard]] uint32_t open_send(const Team& team, int to);
    [[nodiscard]] uint32_t open_recv(const Team& team, int from);
    void fill(uint32_t message, std::byte* data, size_t bytes);
    void copy(void* to, const void* from, size_t bytes);
    void use(const Combine& operation) { combine_ = operation; }
    [[nodiscard]] const Combine& operation() const { return combine_; }
    // inout = in op inout, with the operation in use
    void combine(const void* in, void* inout, int64_t count);
    // A function to be called in its turn, with an argument that lives as long as the schedule. Its error is
    // the schedule's.
    void call(Err (*function)(void*), void* argument);
    void wait();
    // Memory that lives as long as the schedule. Null if there is none: then the schedule must not be
    // started, and state() says why.
    [[nodiscard]] std::byte* scratch(size_t bytes);
    template <class T, class... Args>
    [[nodiscard]] T* make(Args&&... args);
    [[nodiscard]] Err state() const { return state_; }
    void refuse(Err why) {
        if (state_ == Err::success) state_ = why;
    }

    // --- running
    // What is called when a run ends; the schedule may be destroyed there.
    void on_end(void (*function)(void*), void* argument) {
        on_end_ = function;
        on_end_argument_ = argument;
    }
    void start();
    Err run(); // and wait for its end
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] uint32_t sequence() const { return sequence_; }
    // A message that is waited for, or null.
    [[nodiscard]] const Operation* shown() const;

  private:
    enum class Kind : uint8_t { send, recv, copy, combine, call, wait };
    struct Step {
        Kind kind;
        uint32_t message; // send, recv: which
        const void* from;
        void* to;
        int64_t amount; // bytes or elements
        Err (*function)(void*);
    };
    struct Message : Operation {
        Schedule* schedule = nullptr;
        bool open = false; // left out if it has no bytes
    };

    void settle_steps();
    void add(const Team& team, Operation op, Kind kind);
    void perform(const Step& step);
    void start_message(const Step& step);
    uint32_t open_last();
    void advance();
    void end();
    void message_done(Message& m);
    void give_up();
    [[nodiscard]] const Operation* message_at(uint32_t i) const;
    static void on_message(Operation& op);

    Lane& lane_;
    Form form_;
    uint32_t context_; // of the team whose collective it is
    uint32_t sequence_;
    uint32_t next_step_ = 0;
    uint32_t started_ = 0; // messages started in this run
    uint32_t settled_ = 0; // messages before this one are done
    uint32_t under_way_ = 0;
    bool advancing_ = false;
    bool done_ = false;
    bool broken_ = false; // a message could not be sent: peers may wait for it, so nothing more is waited for
    Err state_ = Err::success;
    Err error_ = Err::success;
    Err earlier_ = Err::success; // of what was settled
    Combine combine_;
    void (*on_end_)(void*) = nullptr;
    void* on_end_argument_ = nullptr;
    InlineList<Step, 4> steps_;
    std::vector<Message> messages_; // does not grow after the start
    alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) std::byte first_scratch_[128];
    size_t first_scratch_used_ = 0;
    std::vector<std::unique_ptr<std::byte[]>> scratch_;
};

template <class T, class... Args>
T* Schedule::make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    std::byte* place = scratch(sizeof(T));
    return place != nullptr ? new (place) T{std::forward<Args>(args)...} : nullptr;
}

} // namespace zipmpi::proto::coll
