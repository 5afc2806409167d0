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

// The components of the engine that waits and locks use. Functions without effect are stubs.
class EngineLock {
  public:
    explicit EngineLock(transport::shm::ShmTransport& shm)
        : shm_(shm) {}
    void set_multithreaded() { multithreaded_ = true; }
    [[nodiscard]] bool multithreaded() const { return multithreaded_; }
    void wake_waiters() {
        if (multithreaded_) shm_.wake_self();
    }
    void unlock_for_wait() {
        if (multithreaded_) mutex_.unlock();
    }
    void relock() {
        if (multithreaded_) mutex_.lock();
    }

  private:
    transport::shm::ShmTransport& shm_;
    bool multithreaded_ = false;
    explore::Mutex mutex_;
};

class NetworkPort {
  public:
    void use(transport::Network& network) { network_ = &network; }
    [[nodiscard]] transport::Network* get() const { return network_; }
    bool acquire_descriptors() { return !std::exchange(descriptors_acquired_, true); }
    void release_descriptors() { descriptors_acquired_ = false; }
    void force_poll() {}
    void skip_poll() {}
    [[nodiscard]] static bool relays_bulk() { return false; }

  private:
    transport::Network* network_ = nullptr;
    bool descriptors_acquired_ = false;
};

struct WaitTuning {
    bool is_oversubscribed;
    [[nodiscard]] bool oversubscribed() const { return is_oversubscribed; }
    [[nodiscard]] static bool slightly_oversubscribed() { return false; }
    [[nodiscard]] static bool awake_fit_cpus() { return false; }
    [[nodiscard]] static bool only_ranks_run(uint64_t) { return false; }
    [[nodiscard]] static uint64_t yields_since_ns() { return 0; }
    static void set_yields_since_ns(uint64_t) {}
    static uint64_t end_yield(uint64_t) { return UINT64_MAX; } // used by another process: sleeps are explored
    [[nodiscard]] static uint32_t spin_limit() { return 0; }
    static void set_spin_limit(uint32_t) {}
    static uint32_t count_idle_poll() { return 1; }
    static void reset_idle_polls() {}
};

struct FaultMonitor {
    static int poll() { return 0; }
    static Err comm_failure(uint32_t) { return Err::success; }
};

// No tool listens.
enum class EventType : uint8_t { sleep, wakeup };
struct EventSink {
    [[nodiscard]] static bool wants(EventType) { return false; }
    static void raise(EventType, int64_t) {}
};

struct PeerDirectory {
    [[nodiscard]] static int node_of(int) { return 0; }
    [[nodiscard]] static int cluster_of(int) { return 0; }
    [[nodiscard]] static int clusters() { return 1; }
};

struct MessageReceiver {
    [[nodiscard]] static const IncomingMessage* near_miss(const Operation&) { return nullptr; }
};

class ProgressEngine {
  public:
    ProgressEngine(const segment::NodeSegment& segment, uint32_t local_index, bool oversubscribed)
        : shm_(segment, local_index)
        , lock_(shm_)
        , wait_tuning_{oversubscribed} {}
    std::function<void(const transport::Arrival&)> on_arrival = [](const transport::Arrival&) {};
    std::function<int()> send_pending = [] { return 0; };

    transport::shm::ShmTransport& shm() { return shm_; }
    Recorder& recorder() { return shm_.own_block().recorder; }
    Counters& counters() { return shm_.own_block().counters; }
    transport::Network* network() { return network_.get(); }
    // Also switches to multithreaded mode.
    void use_network(transport::Network& network) {
        network_.use(network);
        lock_.set_multithreaded();
    }
    int progress() {
        const int arrived = shm_.poll([this](const transport::Arrival& a) { on_arrival(a); });
        return arrived + send_pending() + (network() != nullptr ? network()->progress() : 0);
    }
    int progress_all() { return progress(); }
    EngineLock& engine_lock() { return lock_; }
    NetworkPort& network_port() { return network_; }
    WaitTuning& wait_tuning() { return wait_tuning_; }
    FaultMonitor& faults() { return faults_; }
    PeerDirectory& peers() { return peers_; }
    [[nodiscard]] const EventSink& events() const { return events_; }
    [[nodiscard]] const MessageReceiver& receiver() const { return receiver_; }

    // Stubs without effect.
    void start_recv(Operation&) {}
    void start_send(Operation&) {}
    void abandon_recv(Operation&) {}

  private:
    transport::shm::ShmTransport shm_;
    EngineLock lock_;
    NetworkPort network_;
    WaitTuning wait_tuning_;
    FaultMonitor faults_;
    PeerDirectory peers_;
    MessageReceiver receiver_;
    EventSink events_;
};

} // namespace zipmpi::proto
