// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// In place of src/proto/p2p/lane.hpp: what waiting and locks need of a lane, around the transport under test.
// The test says what happens to arrivals and what the network brings.
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "boot/node_segment.hpp"
#include "proto/p2p/operation.hpp"
#include "schedules.hpp"
#include "transport/shm/transport.hpp"
#include "wire/foreign.hpp"

namespace zipmpi::transport::ucx {

struct Network {
    std::function<int()> progress;
    std::function<bool()> arm; // false: something is there
    [[nodiscard]] static int descriptor() { return 0; }
};

} // namespace zipmpi::transport::ucx

namespace zipmpi::proto {

struct Incoming {
    wire::Envelope envelope;
    int from;
};

class Lane {
  public:
    Lane(const boot::NodeSegment& segment, uint32_t local_index, bool oversubscribed)
        : shm_(segment, local_index)
        , oversubscribed_(oversubscribed) {}
    std::function<void(const transport::Arrival&)> on_arrival = [](const transport::Arrival&) {};
    std::function<int()> send_pending = [] { return 0; };

    transport::shm::Transport& shm() { return shm_; }
    Recorder& recorder() { return shm_.own_block().recorder; }
    Counters& counters() { return shm_.own_block().counters; }
    transport::ucx::Network* network() { return network_; }
    // Several threads use it then.
    void use_network(transport::ucx::Network& network) {
        network_ = &network;
        multithreaded_ = true;
    }
    int progress() {
        const int arrived = shm_.poll([this](const transport::Arrival& a) { on_arrival(a); });
        return arrived + send_pending() + (network_ != nullptr ? network_->progress() : 0);
    }
    int progress_all() { return progress(); }
    int progress_in_node() { return progress(); }
    bool take_descriptors() { return !std::exchange(descriptors_taken_, true); }
    void give_back_descriptors() { descriptors_taken_ = false; }
    void wake_threads() {
        if (multithreaded_) shm_.wake_own();
    }
    void step_out() {
        if (multithreaded_) mutex_.unlock();
    }
    void step_in() {
        if (multithreaded_) mutex_.lock();
    }
    [[nodiscard]] bool multithreaded() const { return multithreaded_; }
    [[nodiscard]] bool oversubscribed() const { return oversubscribed_; }

    // Of no meaning here.
    void look_at_network_too() {}
    int look_for_news() { return 0; }
    [[nodiscard]] bool few_awake() const { return false; }
    [[nodiscard]] uint32_t spin_limit() const { return 0; }
    void set_spin_limit(uint32_t) {}
    uint32_t note_vain_look() { return 1; }
    void note_luck() {}
    [[nodiscard]] const Incoming* near_miss(const Operation&) const { return nullptr; }
    void start_recv(Operation&) {}
    void start_send(Operation&) {}
    void give_up_recv(Operation&) {}
    [[nodiscard]] int node_of(int) const { return 0; }
    [[nodiscard]] int cluster_of(int) const { return 0; }
    [[nodiscard]] int clusters() const { return 1; }

  private:
    transport::shm::Transport shm_;
    bool oversubscribed_;
    transport::ucx::Network* network_ = nullptr;
    bool multithreaded_ = false;
    bool descriptors_taken_ = false;
    explore::Mutex mutex_;
};

} // namespace zipmpi::proto
