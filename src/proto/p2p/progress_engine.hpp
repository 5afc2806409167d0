// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The progress engine of a process: a facade over the components of the protocols, under one lock.
//
//   NetworkEvents, ArrivalDispatcher   messages that arrive, by kind
//   MessageSender    EagerSender, RendezvousSender, RemoteSender; SendQueue and ControlSender beside it
//   MessageReceiver  Matcher, RendezvousReceiver (CoopCopier, FragmentReceiver)
//   Cancellation, FaultMonitor         operations that end in another way
//   PathPolicy, PeerDirectory, WaitTuning, EngineLock, ProgressHooks, NetworkPort, Completion   services
//
// Protocols, by size and pair (select/): eager inline up to 40 bytes, in up to five slots up to 280 bytes,
// above in one cell. Larger messages use a rendezvous: rts, then a single copy by the receiver (from the
// shared arena or by CMA) and ack, or cts and fragments in cells. The rts of a noncontiguous send carries the
// first fragment or the sender's layout (remote_buffer.hpp). Messages of a rank to itself are copied once,
// without a transport.
//
// Threads: every call holds the engine's lock (engine_lock()) if the process is multithreaded or has a
// progress thread (progress/progress_thread.hpp).
#pragma once

#include "proto/p2p/fault_monitor.hpp"
#include "proto/p2p/network_events.hpp"

namespace zipmpi::proto {

class ProgressEngine {
  public:
    ProgressEngine(const segment::NodeSegment& segment, uint32_t local_index, int world_rank);

    // Start an operation. It may be done on return; otherwise progress() completes it.
    void start_send(Operation& op) { sender_.start(op); }
    void start_recv(Operation& op) { receiver_.start(op); }
    // Completes a pending receive without its message; data that still arrives for it is dropped.
    void abandon_recv(Operation& op);
    // Requests cancellation: the operation completes soon, canceled or normally.
    void cancel(Operation& op) { cancellation_.cancel(op); }
    // The unexpected message that a receive with this pattern would match, or null.
    [[nodiscard]] const IncomingMessage* probe(uint32_t context, int source, int tag);
    // Matched probe: like probe(), and removes the message from matching. recv_extracted() must follow.
    [[nodiscard]] UnexpectedMessage* extract(uint32_t context, int source, int tag);
    void recv_extracted(Operation& op, UnexpectedMessage& message);
    // The context is no longer used for receives: drops its unexpected messages, except those whose sender
    // waits for a reply.
    void drop_unexpected(uint32_t context);

    // Advances pending operations and transports. Returns the number of events.
    int progress();
    // Like progress(), and always polls the network.
    int progress_all() {
        network_.force_poll();
        return progress();
    }
    // True if no outgoing message is queued, so that the process may leave MPI.
    [[nodiscard]] bool drained() const { return sender_.idle() && network_.idle(); }

    // Components
    [[nodiscard]] EngineLock& engine_lock() { return lock_; }
    [[nodiscard]] ProgressHooks& hooks() { return hooks_; }
    [[nodiscard]] WaitTuning& wait_tuning() { return wait_tuning_; }
    [[nodiscard]] PeerDirectory& peers() { return peers_; }
    [[nodiscard]] const PeerDirectory& peers() const { return peers_; }
    [[nodiscard]] NetworkPort& network_port() { return network_; }
    [[nodiscard]] transport::Network* network() { return network_.get(); }
    [[nodiscard]] NetworkEvents& network_events() { return network_events_; }
    [[nodiscard]] ArrivalDispatcher& dispatcher() { return network_events_.dispatcher(); }
    [[nodiscard]] MessageSender& sender() { return sender_; }       // for messages without an operation
    [[nodiscard]] MessageReceiver& receiver() { return receiver_; } // for messages without an operation
    [[nodiscard]] ControlSender& control() { return control_; }
    [[nodiscard]] FaultMonitor& faults() { return faults_; }
    [[nodiscard]] transport::shm::ShmTransport& shm() { return node_.shm; }
    [[nodiscard]] transport::cma::Copier& cma() { return node_.cma; }
    [[nodiscard]] transport::shm::Arena& arena() { return node_.arena; }
    [[nodiscard]] Counters& counters() { return node_.counters(); }
    [[nodiscard]] EventSink& events() { return node_.events; }

  private:
    // Constructed in this order; each refers to those above it only.
    NodeTransports node_;
    ProgressHooks hooks_;
    EngineLock lock_;
    WaitTuning wait_tuning_;
    PeerDirectory peers_;
    Completion completion_;
    OperationTable table_;
    NetworkPort network_;
    ControlSender control_;
    PathPolicy paths_;
    MessageReceiver receiver_;
    MessageSender sender_;
    Cancellation cancellation_;
    NetworkEvents network_events_;
    FaultMonitor faults_;
};

} // namespace zipmpi::proto
