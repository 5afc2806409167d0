// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network device by which windows of this process reach memory on other hosts (transport/ucx/direct.hpp):
// connections to the ranks it was used for, and what has to happen when operations are done. One for all
// windows.
//
// Nobody wakes a rank when its device has done something: who waits for that looks again and again, in
// wait_until(). While something is under way every round of progress looks at the device.
//
// Threads: under the lane's lock.
#pragma once

#include "proto/p2p/deferred.hpp"
#include "transport/ucx/direct.hpp"

#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::proto {
class Lane;
}

namespace zipmpi::proto::rma {

class Device {
  public:
    Device(std::unique_ptr<transport::ucx::Direct> direct, Lane& lane);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    [[nodiscard]] transport::ucx::Direct& direct() { return *direct_; }

    // A way for operations of this process to a rank; each direction has its own, since the other side can
    // tell when it is there only by messages.
    struct Way {
        enum class State : uint8_t { none, asked, up, impossible };
        State state = State::none;
        int end = -1;
    };
    [[nodiscard]] Way& way_to(int world_rank) { return ways_[world_rank]; }
    // Origin: opens an end; its text must be told to the rank.
    std::string open_way(Way& way);
    // Target: the text of the other end, for the answer. Empty: it cannot be.
    std::string accept(std::string_view text);
    // Origin: what the target has answered.
    void connect(Way& way, std::string_view text);
    void connect_to_self(Way& way);

    // Something was started on this end.
    void note(int end);
    // Everything on this end is done, and what was to happen then has happened.
    [[nodiscard]] bool settled(int end);
    [[nodiscard]] bool failed(int end) const { return direct_->failed(end); }

    // To be done when everything so far on an end is done. at_once: somebody may wait for this alone.
    struct After {
        int end = -1;
        bool at_once = false;
        std::vector<std::byte> memory; // of operations
        void (*run)(After&, bool failed) = nullptr;
        void* subject = nullptr;
        uint64_t argument = 0;
    };
    After& when_settled(int end, uint64_t memory_bytes = 0) {
        After& a = after_.emplace_back();
        a.end = end;
        a.memory.resize(memory_bytes);
        held_bytes_ += memory_bytes;
        return a;
    }
    [[nodiscard]] uint64_t held_bytes() const { return held_bytes_; }

    // Looks at the device and everything else until it holds; gives up the lock now and then.
    template <class Done>
    void wait_until(const Done& done) {
        for (uint32_t looks = 1; !done(); ++looks) progress(looks);
    }

  private:
    struct Watch : Watcher {
        Device* device = nullptr;
    };
    int look();
    void progress(uint32_t looks); // and a pause, by how many there were
    void finish(int end);

    std::unique_ptr<transport::ucx::Direct> direct_;
    Lane& lane_;
    std::map<int, Way> ways_; // by rank in the job
    std::vector<bool> busy_;  // by end: something was started since it was settled
    int busy_ends_ = 0;
    uint32_t looks_ = 0;
    std::list<After> after_;
    uint64_t held_bytes_ = 0; // of their memory
    Watch watch_;
};

} // namespace zipmpi::proto::rma
