// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces src/proto/p2p/progress_engine.hpp: the functions that waits and locks use, around the transport
// under test. The test supplies the handling of arrivals and the network's events.
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "proto/p2p/operation.hpp"
#include "schedules.hpp"
#include "segment/node_segment.hpp"
#include "transport/shm/shm_transport.hpp"
#include "wire/external_rank.hpp"

namespace zipmpi::transport {

struct Network {
    std::function<int()> progress;
    std::function<bool()> arm; // false: an event is pending
    [[nodiscard]] static int descriptor() { return 0; }
};

} // namespace zipmpi::transport

namespace zipmpi::proto {

struct IncomingMessage {
    wire::Envelope envelope;
    int from;
};

class ProgressEngine {
  public:
    ProgressEngine(const segment::NodeSegment& segment, uint32_t local_index, bool oversubscribed)
        : shm_(segment, local_index)
        , oversubscribed_(oversubscribed) {}
    std::function<void(const transport::Arrival&)> on_arrival = [](const transport::Arrival&) {};
    std::function<int()> send_pending = [] { return 0; };

    transport::shm::ShmTransport& shm() { return shm_; }
    Recorder& recorder() { return shm_.own_block().recorder; }
    Counters& counters() { return shm_.own_block().counters; }
    transport::Network* network() { return network_; }
    // Also switches to multithreaded mode.
    void use_network(transport::Network& network) {
        network_ = &network;
        multithreaded_ = true;
    }
    int progress() {
        const int arrived = shm_.poll([this](const transport::Arrival& a) { on_arrival(a); });
        return arrived + send_pending() + (network_ != nullptr ? network_->progress() : 0);
    }
    int progress_all() { return progress(); }
    int progress_in_node() { return progress(); }
    bool acquire_descriptors() { return !std::exchange(descriptors_acquired_, true); }
    void release_descriptors() { descriptors_acquired_ = false; }
    void wake_waiters() {
        if (multithreaded_) shm_.wake_self();
    }
    void unlock_for_wait() {
        if (multithreaded_) mutex_.unlock();
    }
    void relock() {
        if (multithreaded_) mutex_.lock();
    }
    [[nodiscard]] bool multithreaded() const { return multithreaded_; }
    [[nodiscard]] bool oversubscribed() const { return oversubscribed_; }

    // Stubs without effect.
    void force_network_poll() {}
    int poll_faults() { return 0; }
    [[nodiscard]] bool awake_fit_cpus() const { return false; }
    [[nodiscard]] uint32_t spin_limit() const { return 0; }
    void set_spin_limit(uint32_t) {}
    uint32_t count_idle_poll() { return 1; }
    void reset_idle_polls() {}
    [[nodiscard]] const IncomingMessage* near_miss(const Operation&) const { return nullptr; }
    void start_recv(Operation&) {}
    void start_send(Operation&) {}
    void abandon_recv(Operation&) {}
    [[nodiscard]] int node_of(int) const { return 0; }
    [[nodiscard]] int cluster_of(int) const { return 0; }
    [[nodiscard]] int clusters() const { return 1; }

  private:
    transport::shm::ShmTransport shm_;
    bool oversubscribed_;
    transport::Network* network_ = nullptr;
    bool multithreaded_ = false;
    bool descriptors_acquired_ = false;
    explore::Mutex mutex_;
};

} // namespace zipmpi::proto
