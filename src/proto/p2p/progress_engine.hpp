// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The progress engine of a process: message matching, pending operations and transports under one lock.
//
// Protocols, by size and pair (select/): eager inline up to 40 bytes, in up to five slots up to 280 bytes,
// above in one cell. Larger messages use a rendezvous: rts, then a single copy by the receiver (from the
// shared arena or by CMA) and ack, or cts and fragments in cells. The rts of a noncontiguous send carries the
// first fragment or the sender's layout (remote_buffer.hpp). Messages of a rank to itself are copied once,
// without a transport.
//
// Threads: every call below holds the engine's lock if the process is multithreaded or has a progress thread
// (lock(), unlock(); progress/progress_thread.hpp).
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "proto/p2p/coop_copy.hpp"
#include "proto/p2p/fault_table.hpp"
#include "proto/p2p/match.hpp"
#include "proto/p2p/operation_table.hpp"
#include "proto/p2p/progress_hooks.hpp"
#include "proto/p2p/rts_policy.hpp"
#include "proto/p2p/skew_buffer.hpp"
#include "proto/progress/handoff.hpp"
#include "proto/select/cma_heuristic.hpp"
#include "proto/select/peer_thresholds.hpp"
#include "segment/node_segment.hpp"
#include "segment/traffic.hpp"
#include "transport/cma/copier.hpp"
#include "transport/network.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/shm_transport.hpp"
#include "wire/external_rank.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace zipmpi::proto {

class ProgressEngine {
  public:
    ProgressEngine(const segment::NodeSegment& segment, uint32_t local_index, int world_rank);

    // Network for ranks on other hosts; null if all ranks are on this node. network_p2p.cpp
    [[nodiscard]] transport::NetworkCallbacks network_callbacks();
    void use_network(std::unique_ptr<transport::Network> network) { network_ = std::move(network); }
    [[nodiscard]] transport::Network* network() { return network_.get(); }
    // Hands the network to a wrapper, which is then set by use_network(); peers keep their indices.
    [[nodiscard]] std::unique_ptr<transport::Network> take_network() { return std::move(network_); }
    // From now on members of teams may be processes of other jobs (external ranks).
    void enable_external_ranks() { external_ranks_ = true; }
    [[nodiscard]] bool external_ranks_enabled() const { return external_ranks_; }
    // An external rank has failed or is permanently unreachable.
    void fail_external(int world_rank);
    // A rank on another host has released a context that was allocated on this node.
    void set_on_context_release(void (*call)(uint32_t context)) { on_context_release_ = call; }
    void set_on_revoke(void (*call)(uint32_t context)) { on_revoke_ = call; }
    void notify_context(int world_rank, wire::MessageKind what, uint32_t context);
    [[nodiscard]] bool on_this_node(int world_rank) const { return shm_.peer_of(world_rank) >= 0; }
    [[nodiscard]] int node_of(int world_rank) const {
        return wire::is_external(world_rank) ? 0 : static_cast<int>(shm_.segment().node_of(world_rank));
    }

    // Clusters without a common network; by default all nodes are in one cluster.
    void use_clusters(int count, std::vector<int> of_node) {
        clusters_ = count;
        cluster_of_node_ = std::move(of_node);
    }
    [[nodiscard]] int clusters() const { return clusters_; }
    [[nodiscard]] int cluster_of(int world_rank) const {
        return cluster_of_node_.empty() ? 0 : cluster_of_node_[static_cast<size_t>(node_of(world_rank))];
    }

    // Starts an operation. It may be done on return; otherwise progress() completes it.
    void start_send(Operation& op);
    void start_recv(Operation& op);
    // Sends eagerly if that needs no queueing. Returns true if sent; the operation may then be destroyed.
    // False: no side effect.
    bool try_send_eager(Operation& op);
    // Completes a pending receive without its message; data that still arrives for it is dropped.
    void abandon_recv(Operation& op);
    // The unexpected message that a receive with this pattern would match, or null.
    [[nodiscard]] const IncomingMessage* probe(uint32_t context, int source, int tag);
    // Matched probe: like probe(), and removes the message from matching. recv_extracted() must follow.
    [[nodiscard]] UnexpectedMessage* extract(uint32_t context, int source, int tag);
    void recv_extracted(Operation& op, UnexpectedMessage& message);
    // The context is no longer used for receives: drops its unexpected messages, except those whose sender
    // waits for a reply.
    void drop_unexpected(uint32_t context);
    // Requests cancellation: the operation completes soon, canceled or normally. An unmatched receive and a
    // send that is still queued are canceled immediately.
    void cancel(Operation& op);
    // For reports: an unexpected message that matches except for its tag or communicator, or null.
    [[nodiscard]] const IncomingMessage* near_miss(const Operation& recv) const;
    // For reports: number of unexpected messages.
    [[nodiscard]] uint64_t unexpected_count() const { return matcher_.unexpected_count(); }
    // Advances pending operations and transports. Returns the number of events.
    int progress();
    // Like progress(), and always polls the network.
    int progress_all() {
        force_network_poll();
        return progress();
    }
    // Like progress(), without polling the network.
    int progress_in_node() {
        polls_since_local_ = 0;
        return progress();
    }
    // The next progress() polls the network even if a message from this node arrived recently.
    void force_network_poll() {
        if (network_ != nullptr) polls_since_local_ = UINT32_MAX / 2;
    }
    // Only one thread at a time may sleep on the network's descriptor. False: another one does.
    bool acquire_descriptors() { return !std::exchange(descriptors_acquired_, true); }
    void release_descriptors() { descriptors_acquired_ = false; }
    // Runs the task in the next progress(). No effect if it is queued already.
    void defer(DeferredTask& task) {
        if (task.queued) return;
        task.queued = true;
        deferred_.push_back(task);
    }
    void cancel_deferred(DeferredTask& task) {
        if (task.queued) deferred_.remove(task);
        task.queued = false;
    }
    // Processes fault notifications (fault_handling.cpp) and fails the affected operations. Called by waiting
    // ranks. Returns the number of events; a new notification counts as one.
    int poll_faults() {
        const bool same = fault_generation_.load(std::memory_order_seq_cst) == faults_.generation;
        return same && !faults_.any ? 0 : process_faults();
    }
    [[nodiscard]] FaultTable& faults() { return faults_; }
    [[nodiscard]] bool has_faults() const { return faults_.any; }
    // Success, or why this communicator, or its collectives, can no longer be used.
    [[nodiscard]] Err comm_failure(uint32_t context) const {
        return faults_.any ? find_comm_failure(context) : Err::success;
    }
    // Success, or why no more messages can arrive from this rank on this communicator.
    [[nodiscard]] Err source_failure(uint32_t context, int source, int world_source) const {
        return faults_.any ? find_source_failure(context, source, world_source) : Err::success;
    }
    // Called when the network has lost the connection to a rank.
    void set_on_connection_lost(void (*call)(int world_rank)) { on_connection_lost_ = call; }
    void add_hook(ProgressHook& hook) {
        if (!hook.installed) hooks_.push_back(hook);
        hook.installed = true;
    }
    void remove_hook(ProgressHook& hook) {
        if (hook.installed) hooks_.remove(hook);
        hook.installed = false;
    }
    // Copies from a peer's memory by CMA. Returns false if CMA is denied.
    bool cma_read(transport::Peer from, uint64_t address, std::byte* to, size_t bytes) {
        return cma_.read(from, address, to, bytes);
    }
    [[nodiscard]] transport::cma::Copier& cma() { return cma_; }
    // Copies to a peer's memory by CMA. Returns false if CMA is denied.
    bool cma_write(transport::Peer to, uint64_t address, const std::byte* from, size_t bytes) {
        return cma_.write(to, address, from, bytes);
    }
    // Wakes sleeping threads of this process: one may wait for what was just done, be it the completion of an
    // operation or another change.
    void wake_waiters() {
        if (multithreaded_) shm_.wake_self();
    }
    // True if no outgoing message is queued, so that the process may leave MPI.
    [[nodiscard]] bool drained() const {
        return pending_.empty() && pipelined_sends_.empty() && skew_buffer_.empty() &&
               (network_ == nullptr || network_->idle());
    }

    void set_multithreaded() { multithreaded_ = locking_ = true; }
    [[nodiscard]] bool multithreaded() const { return multithreaded_; }
    void lock() {
        if (locking_) enter();
    }
    void unlock() {
        if (locking_) leave();
    }
    // Release and reacquire the lock inside a blocking call: the thread still counts as inside MPI.
    void unlock_for_wait() {
        if (!locking_) return;
        ++waiting_threads_;
        mutex_.unlock();
    }
    void relock() {
        if (!locking_) return;
        mutex_.lock();
        --waiting_threads_;
    }
    // For the progress thread. The caller of attach and detach is inside MPI, and is the only thread there
    // unless multithreaded.
    void attach_progress_thread() {
        if (!locking_) mutex_.lock();
        locking_ = has_progress_thread_ = true;
    }
    void detach_progress_thread() {
        has_progress_thread_ = false;
        locking_ = multithreaded_;
        if (!locking_) mutex_.unlock();
    }
    [[nodiscard]] ProgressHandoff& handoff() { return handoff_; }
    [[nodiscard]] bool try_lock_idle() { // false: another thread is inside MPI
        if (!mutex_.try_lock()) return false;
        if (waiting_threads_ == 0) return true;
        mutex_.unlock();
        return false;
    }
    void unlock_idle() { mutex_.unlock(); }

    // Hooks wait for stores by ranks of this node, which raise no network event.
    [[nodiscard]] bool has_hooks() const { return !hooks_.empty(); }
    [[nodiscard]] transport::shm::ShmTransport& shm() { return shm_; }
    [[nodiscard]] transport::shm::Arena& arena() { return arena_; }
    [[nodiscard]] Counters& counters() { return shm_.own_block().counters; }
    [[nodiscard]] Recorder& recorder() { return shm_.own_block().recorder; }
    [[nodiscard]] bool oversubscribed() const {
        return local_ranks_ > usable_cpus_.load(std::memory_order_relaxed);
    }
    // At most as many ranks are awake as there are CPUs.
    [[nodiscard]] bool awake_fit_cpus() const {
        return shm_.awake() <= usable_cpus_.load(std::memory_order_relaxed);
    }
    // Polls before a wait yields, adapted to earlier waits; proto/progress/wait.cpp.
    [[nodiscard]] uint32_t spin_limit() const { return spin_limit_; }
    void set_spin_limit(uint32_t rounds) { spin_limit_ = rounds; }
    // Consecutive idle polls; proto::poll().
    uint32_t count_idle_poll() { return ++idle_polls_; }
    void reset_idle_polls() { idle_polls_ = 0; }
    [[nodiscard]] int world_rank() const { return world_rank_; }

  private:
    // A message that found its ring full: a send to be started, or a control message.
    struct QueuedSend {
        transport::Peer peer;
        Operation* op; // null: the control message below
        wire::Envelope envelope;
        std::byte payload[16];
        size_t bytes;
    };

    // send.cpp
    void send_to_self(Operation& op);
    transport::SendStatus try_start(Operation& op);
    transport::SendStatus send_eager(transport::Peer peer, const wire::Envelope& e, const Operation& op);
    transport::SendStatus start_rendezvous(Operation& op, wire::Envelope envelope);
    void send_control(transport::Peer peer, wire::MessageKind kind, const void* payload, size_t bytes,
                      uint32_t info = 0);
    transport::SendStatus send_rts(Operation& op, const wire::Envelope& e);
    transport::SendStatus send_rts_noncontig(Operation& op, const wire::Envelope& e, wire::Rts& rts);
    int send_pending();
    int push_pipelined_sends();
    bool push_fragments(Operation& op, int& sent);
    // receive.cpp
    void handle_arrival(const transport::Arrival& a);
    void on_message(const IncomingMessage& message);
    void accept(Operation& recv, const IncomingMessage& message);
    void accept_rendezvous(Operation& recv, const IncomingMessage& message);
    void request_fragments(Operation& recv, const IncomingMessage& message);
    [[nodiscard]] Operation* find_peer_operation(const transport::Arrival& a, wire::OperationId id,
                                                 Operation::Kind kind) const;
    void on_cts(const transport::Arrival& a);
    void on_fragment(const transport::Arrival& a);
    void on_ack(const transport::Arrival& a);

    // Counts a send in the communication matrix.
    void count_send(transport::Peer peer, const Operation& op) {
        counters().add_owner(Counter::sends);
        counters().add_owner(Counter::send_bytes, op.bytes);
        wire::PeerTraffic* t = traffic_of_peer_[peer];
        if (t == nullptr) [[unlikely]]
            t = traffic_of_peer_[peer] = &traffic_.row_for(op.world_peer);
        t->count[op.context & 1U & ~(op.context >> 31U)].add(op.bytes);
    }

    // Buffer for packed bytes, valid until the next call.
    [[nodiscard]] std::byte* staging(uint64_t bytes);
    [[nodiscard]] bool read_from_sender(const Operation& recv, const IncomingMessage& message);

    // Sizes at which the path of messages to a peer changes.
    [[nodiscard]] const Thresholds& thresholds(transport::Peer peer) {
        return oversubscribed() ? peer_thresholds_.when_oversubscribed() : peer_thresholds_.of(peer);
    }
    [[nodiscard]] bool is_eager(const Operation& op, transport::Peer peer) {
        if (op.bytes <= wire::multislot_max) return true;
        const Thresholds& t = thresholds(peer);
        if (op.layout != nullptr) return op.bytes <= t.noncontig_eager_limit;
        if (op.bytes >= t.arena_min && arena_.offset_of(op.buffer, op.bytes) != 0) return false;
        if (op.bytes <= t.eager_limit) return true;
        return op.bytes <= shm_.caps().bulk_max && rts_policy_[peer].should_skip_rts();
    }
    // coop_copy.cpp
    bool start_coop_copy(Operation& recv, const IncomingMessage& message);
    [[nodiscard]] bool can_coop_copy(const Operation& recv, const IncomingMessage& message,
                                     RemoteBuffer& from);
    void send_coop_offer(const CoopCopy& copy, uint32_t index);
    [[nodiscard]] bool should_send_layout(const Operation& send);
    [[nodiscard]] bool copy_chunk(const CoopCopy& copy, uint32_t chunk);
    [[nodiscard]] bool write_chunk(const Operation& send, transport::Peer to, const RemoteBuffer& to_buffer,
                                   uint64_t at, uint64_t bytes);
    bool try_finish_coop_copy(CoopCopy& copy);
    void close_coop_copy(CoopCopy& copy);
    void abandon_coop_copy(const Operation& recv);
    int poll_coop_copies();
    void on_coop_offer(const transport::Arrival& a);

    bool copy_from_arena(Operation& recv, const IncomingMessage& message);
    bool copy_by_cma(Operation& recv, const IncomingMessage& message);
    void reply(const IncomingMessage& message, wire::MessageKind kind, const void* payload, size_t bytes);

    // network_p2p.cpp
    // Finds the peer index of a rank on another host. Returns false if it cannot be reached.
    [[gnu::cold]] bool find_remote(int world_rank, transport::Peer& peer);
    [[gnu::cold]] void finish_unreachable(Operation& op);
    transport::SendStatus try_start_remote(Operation& op);
    transport::SendStatus try_send_control(transport::Peer peer, const wire::Envelope& e,
                                           const std::byte* payload, size_t bytes);
    void on_network_rts(const transport::Arrival& a, transport::IncomingBulk& bytes, uint64_t length);
    void on_network_sent(Operation& op, transport::OpStatus outcome);
    void accept_from_network(Operation& recv, const IncomingMessage& message);
    void complete_send_event(Operation& op);
    void fail_remote(Operation& op);
    [[nodiscard]] bool is_remote(transport::Peer peer) const { return peer >= local_ranks_; }
    int poll_network(bool came_from_this_node);
    void add_remote_peer(transport::Peer peer);

    // cancel.cpp
    void finish_cancelled(Operation& op);
    void cancel_send(Operation& op);
    void on_cancel(const transport::Arrival& a);
    void on_cancelled(const transport::Arrival& a);

    // fault_handling.cpp
    [[gnu::cold]] int process_faults();
    [[gnu::cold]] [[nodiscard]] Err find_comm_failure(uint32_t context) const;
    [[gnu::cold]] [[nodiscard]] Err find_source_failure(uint32_t context, int source, int world_source) const;
    void fail_peer(int world_rank);
    [[nodiscard]] bool is_failed(transport::Peer peer) const;
    [[nodiscard]] Err failure_of(const Operation& op) const;
    int fail_affected_operations();
    int fail_pending();
    int fail_posted();
    int fail_in_table();
    int fail_pipelined_sends();
    int fail_self_sends();
    void drop_coop_copy(const Operation& recv);
    void finish_with_error(Operation& op, Err why);

    void enter() {
        mutex_.lock();
        if (has_progress_thread_) handoff_.count_entry();
    }
    void leave() {
        const bool idle = has_progress_thread_ && waiting_threads_ == 0;
        const bool hooked = !hooks_.empty();
        // A sleeping progress thread has not registered with the receivers for free space.
        if (idle && shm_.has_blocked_sends()) shm_.wake_self();
        mutex_.unlock();
        if (idle) handoff_.on_leave(hooked);
    }
    int run_deferred();
    int poll_hooks();
    void finish(Operation& op);
    [[gnu::cold]] void finish_without_memory(Operation& send);

    // Peer indices: first the ranks of this node, then the peers of the network in order of connection.
    uint32_t local_ranks_;
    std::unique_ptr<transport::Network> network_;
    void (*on_context_release_)(uint32_t) = nullptr;
    void (*on_revoke_)(uint32_t) = nullptr;
    void (*on_connection_lost_)(int) = nullptr;
    bool external_ranks_ = false;
    const std::atomic<uint32_t>& fault_generation_; // in the segment
    FaultTable faults_;
    int clusters_ = 1;
    std::vector<int> cluster_of_node_;
    bool descriptors_acquired_ = false;
    uint32_t polls_since_local_ = 0; // since the last message from this node; large after network activity
    transport::shm::ShmTransport shm_;
    transport::cma::Copier cma_;
    transport::shm::Arena arena_;
    PeerThresholds peer_thresholds_;
    std::vector<CmaHeuristic> cma_heuristics_; // per peer
    SkewBuffer skew_buffer_;
    std::vector<RtsPolicy> rts_policy_;        // per peer
    std::vector<RtsPolicy> layout_rts_policy_; // per peer, for rts with a layout
    LayoutCache layout_cache_;
    Matcher matcher_;
    OperationTable table_;
    std::deque<QueuedSend> pending_;        // in order of sending per peer
    std::vector<uint32_t> pending_of_peer_; // entries of pending_ per peer
    std::vector<uint64_t> full_in_pass_;    // per peer: the last pass over pending_ that found its ring full
    uint64_t pass_ = 0;
    std::vector<Operation*> pipelined_sends_; // sends whose cts has arrived
    std::vector<std::byte> staging_;          // packed bytes between two layouts
    IntrusiveList<DeferredTask> deferred_;
    IntrusiveList<ProgressHook> hooks_;
    CoopCopy coop_copies_[wire::coop_copy_slots];
    uint32_t active_coop_copies_ = 0;
    uint32_t coop_sequence_ = 0;
    std::mutex mutex_;
    uint32_t waiting_threads_ = 0; // threads between unlock_for_wait() and relock()
    ProgressHandoff handoff_;
    int world_rank_;
    uint32_t spin_limit_ = UINT32_MAX;
    uint32_t idle_polls_ = 0;
    bool multithreaded_ = false;
    bool has_progress_thread_ = false;
    bool locking_ = false;                     // multithreaded_ or has_progress_thread_
    const std::atomic<uint32_t>& usable_cpus_; // in the segment; final when all ranks have joined
    segment::TrafficWriter traffic_;
    std::vector<wire::PeerTraffic*> traffic_of_peer_; // null: nothing was sent to the peer yet
};

} // namespace zipmpi::proto
