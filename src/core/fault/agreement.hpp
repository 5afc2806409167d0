// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An agreement of all members of a communicator that live: flags are combined bit by bit, of the values the
// largest counts, and all know the same failed members. It ends whoever dies meanwhile, and needs nobody to
// wait for it: decisions of the launcher and messages drive it.
//
// Members of one job agree through their launcher. A communicator with processes of several jobs takes a
// round less than there are jobs: in each, every process sends what its job knows to all processes of the
// other jobs, and the members of a job agree through their launcher on whose words all of them have got. So a
// job counts as one process that fails when its last member does. docs/decisions/0043 says why.
#pragma once

#include "boot/node_segment.hpp"
#include "core/comm/comm.hpp"
#include "proto/p2p/operation.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace zipmpi::core {

// What a member says, or several together.
struct Word {
    uint32_t flags = ~0U;
    uint32_t value = 0;
    void add(const Word& other) {
        flags &= other.flags;
        value = std::max(value, other.value);
    }
};

class Agreement {
  public:
    // One call of the program on this communicator, which may take several agreements in turn.
    explicit Agreement(Comm& comm);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    // `ended` is called once, maybe before this returns.
    void start(const Word& said, void (*ended)(void* subject), void* subject);

    // --- the result
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] const Word& word() const { return result_; }
    [[nodiscard]] const std::vector<bool>& failed() const { return failed_; } // by position

    // All members as ranks of the job, in an order that is the same everywhere: that of ranks, or one group
    // after the other.
    [[nodiscard]] const std::vector<int>& members() const { return members_; }
    [[nodiscard]] int own() const { return own_; }                 // position of this process
    [[nodiscard]] int first_group() const { return first_group_; } // size of the first group

    // Hands decisions that the launcher has left for this rank to those that wait for them. How many.
    static int take_decisions();
    // A message that is waited for, for reports.
    [[nodiscard]] const proto::Operation* shown() const;

  private:
    struct Step : proto::Operation {
        Agreement* whole = nullptr;
    };
    struct World {
        std::vector<int> positions;
        Word word;
        bool known = false;
        int heard = -1; // in this round: which of the messages is from it
    };
    using Next = void (Agreement::*)();

    void find_worlds();
    void agree_here(const Word& said, Next next);
    void ask_launcher(const Word& said);
    void gather_words();
    void return_words();
    void here_done();
    void own_world_has_spoken();
    void exchange();
    void exchanged();
    void round_done();
    void conclude();
    void end(Err error);
    void cut_off(Err error);

    [[nodiscard]] std::string packed() const;
    void unpack(const std::string& bytes);

    // Messages with other members: begin, add, then launch; `next` runs when all are done.
    void begin_steps(Next next);
    void send_to(int position, const void* data, size_t bytes) { add_step(position, data, bytes, true); }
    void receive_from(int position, void* data, size_t bytes) { add_step(position, data, bytes, false); }
    void add_step(int position, const void* data, size_t bytes, bool sends);
    void launch_steps();
    void step_done();
    [[nodiscard]] std::vector<int>& own_positions() { return worlds_[own_world_].positions; }

    Comm& comm_;
    uint32_t call_;
    uint32_t step_ = 0; // of this call
    std::vector<int> members_;
    int own_ = 0;
    int first_group_ = 0;
    std::vector<World> worlds_;    // with members, in an order that is the same everywhere
    std::vector<size_t> world_of_; // by position
    size_t own_world_ = 0;
    size_t round_ = 0;

    void (*ended_)(void*) = nullptr;
    void* subject_ = nullptr;
    Err error_ = Err::success;
    Word result_;
    std::vector<bool> failed_;

    boot::Decided here_;        // what the members of this job have come to
    proto::Operation decision_; // no message: what a report shows while the launcher collects all words
    Next next_here_ = nullptr;
    std::vector<Word> words_; // of the other members of this job, without a launcher that helps
    std::string out_;         // messages of a round
    std::vector<std::string> in_;
    std::deque<Step> steps_;
    Next next_ = nullptr;
    int open_ = 0; // steps under way, and one while more may be added
};

} // namespace zipmpi::core
