// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A lane: matching, operations under way and the transports they use, with one lock around them. All state
// that may later be split over several lanes lives here; today a process has one.
//
// Protocols, by size and pair (select/): up to 40 bytes eager in one line, a few hundred in several, more in
// one cell; above, a rendezvous: rts, then one copy by the receiver (out of memory that is born shared, or
// through the kernel) and ack, or cts and fragments in cells. If the sender's buffer has gaps, its first
// fragment comes with the rts, or a note on where it lies (peer_place.hpp). Messages to oneself are copied
// once, without a transport.
//
// Threads: every call below holds the lane's lock when the process is multithreaded or has a helper
// (lock(), unlock(); progress/helper.hpp).
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "boot/node_segment.hpp"
#include "boot/traffic.hpp"
#include "proto/p2p/asking.hpp"
#include "proto/p2p/deferred.hpp"
#include "proto/p2p/faults.hpp"
#include "proto/p2p/joint.hpp"
#include "proto/p2p/match.hpp"
#include "proto/p2p/operation_table.hpp"
#include "proto/p2p/skew.hpp"
#include "proto/progress/hand_over.hpp"
#include "proto/select/pair_choice.hpp"
#include "proto/select/source_sense.hpp"
#include "transport/kcopy/reader.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/transport.hpp"
#include "transport/ucx/network.hpp"
#include "wire/foreign.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace zipmpi::proto {

class Lane {
  public:
    Lane(const boot::NodeSegment& segment, uint32_t local_index, int world_rank);

    // Ranks on other hosts; without a network there are none. remote.cpp
    [[nodiscard]] transport::ucx::Sink network_sink();
    void use_network(std::unique_ptr<transport::ucx::Network> network) { network_ = std::move(network); }
    [[nodiscard]] transport::ucx::Network* network() { return network_.get(); }
    // To be wrapped into another, which is used then; peers keep their numbers.
    [[nodiscard]] std::unique_ptr<transport::ucx::Network> take_network() { return std::move(network_); }
    // Processes of other jobs may be members of teams from now on.
    void expect_foreign() { foreign_ = true; }
    [[nodiscard]] bool expects_foreign() const { return foreign_; }
    // One of them is out of reach for good.
    void lose_foreign(int world_rank);
    // A rank on another host does not hold this context any more, which was drawn on this node.
    void set_on_give_back(void (*call)(uint32_t context)) { on_give_back_ = call; }
    void set_on_revoke(void (*call)(uint32_t context)) { on_revoke_ = call; }
    void tell_of_context(int world_rank, wire::Kind what, uint32_t context);
    [[nodiscard]] bool on_this_node(int world_rank) const { return shm_.reach(world_rank) >= 0; }
    [[nodiscard]] int node_of(int world_rank) const {
        return wire::is_foreign(world_rank) ? 0 : static_cast<int>(shm_.segment().node_of(world_rank));
    }

    // Clusters that share no network; without any all nodes are in one.
    void use_clusters(int count, std::vector<int> of_node) {
        clusters_ = count;
        cluster_of_node_ = std::move(of_node);
    }
    [[nodiscard]] int clusters() const { return clusters_; }
    [[nodiscard]] int cluster_of(int world_rank) const {
        return cluster_of_node_.empty() ? 0 : cluster_of_node_[static_cast<size_t>(node_of(world_rank))];
    }

    // Starts an operation. It may be done on return; otherwise progress() gets it there.
    void start_send(Operation& op);
    void start_recv(Operation& op);
    // Sends if that needs nobody's help and no memory: true, and the operation may go away. Otherwise nothing
    // has happened.
    bool send_at_once(Operation& op);
    // Forgets a receive that is under way and will not be waited for: what still comes for it is dropped.
    void give_up_recv(Operation& op);
    // A waiting message that a receive with this pattern would get, or null.
    [[nodiscard]] const Incoming* probe(uint32_t context, int source, int tag);
    // The same, taken out of matching: only receive_taken() gets it, and must get it.
    [[nodiscard]] Unexpected* take(uint32_t context, int source, int tag);
    void receive_taken(Operation& op, Unexpected& message);
    // Nobody will ask for the messages of this context any more: those whose sender waits for nothing are
    // dropped.
    void drop_messages(uint32_t context);
    // Asks for an operation to be ended: it completes soon, either as cancelled or as if nothing had been
    // asked. A receive that is not matched and a send that has not left are cancelled at once.
    void cancel(Operation& op);
    // For reports: a waiting message that this receive would get if its tag or communicator were another.
    [[nodiscard]] const Incoming* near_miss(const Operation& recv) const;
    // The same: how many messages wait for a receive.
    [[nodiscard]] uint64_t messages_waiting() const { return matcher_.waiting(); }
    // Moves whatever can move. Returns how many things happened.
    int progress();
    // The same, and looks at the network in any case.
    int progress_all() {
        look_at_network_too();
        return progress();
    }
    // The same without a look at the network.
    int progress_in_node() {
        rounds_alone_ = 0;
        return progress();
    }
    // The next progress() looks at the network, even if something has come from this node a moment ago.
    void look_at_network_too() {
        if (network_ != nullptr) rounds_alone_ = UINT32_MAX / 2;
    }
    // The network's descriptor is for one thread at a time to sleep on.
    bool take_descriptors() { return !std::exchange(descriptors_taken_, true); }
    void give_back_descriptors() { descriptors_taken_ = false; }
    // Has it run at the end of the next progress(). Once is enough.
    void defer(Deferred& work) {
        if (work.waiting) return;
        work.waiting = true;
        deferred_.push_back(work);
    }
    void forget(Deferred& work) {
        if (work.waiting) deferred_.remove(work);
        work.waiting = false;
    }
    // Ranks that are gone, revoked communicators: faults.cpp. Called by who waits; whatever cannot be done
    // any more ends with an error. Returns how many things happened; news of a failure are one.
    int look_for_news() {
        const bool same = news_.load(std::memory_order_seq_cst) == faults_.number;
        return same && !faults_.any ? 0 : take_news();
    }
    [[nodiscard]] Faults& faults() { return faults_; }
    [[nodiscard]] bool faulty() const { return faults_.any; }
    // Success, or why nothing comes on the collectives of this communicator any more, or on all of it.
    [[nodiscard]] Err broken(uint32_t context) const {
        return faults_.any ? broken_with_faults(context) : Err::success;
    }
    // Success, or why nothing comes from this rank on this communicator any more.
    [[nodiscard]] Err no_message_from(uint32_t context, int source, int world_source) const {
        return faults_.any ? no_message_with_faults(context, source, world_source) : Err::success;
    }
    // The network has lost the connection to a rank.
    void set_on_lost(void (*call)(int world_rank)) { on_lost_ = call; }
    void watch(Watcher& w) {
        if (!w.watched) watchers_.push_back(w);
        w.watched = true;
    }
    void unwatch(Watcher& w) {
        if (w.watched) watchers_.remove(w);
        w.watched = false;
    }
    // Copies out of a peer's memory through the kernel. False: it does not let us.
    bool read_peer(transport::Peer from, uint64_t address, std::byte* to, size_t bytes) {
        return kcopy_.read(from, address, to, bytes);
    }
    [[nodiscard]] transport::kcopy::Reader& kcopy() { return kcopy_; }
    // The same the other way round.
    bool write_peer(transport::Peer to, uint64_t address, const std::byte* from, size_t bytes) {
        return kcopy_.write(to, address, from, bytes);
    }
    // What was done outside an operation may be what another thread sleeps for.
    void wake_threads() {
        if (multithreaded_) shm_.wake_own();
    }
    // Nothing of this process is left in a queue: it may leave MPI.
    [[nodiscard]] bool drained() const {
        return pending_.empty() && streams_.empty() && skew_.empty() &&
               (network_ == nullptr || network_->idle());
    }

    void set_multithreaded() { multithreaded_ = locks_ = true; }
    [[nodiscard]] bool multithreaded() const { return multithreaded_; }
    void lock() {
        if (locks_) enter();
    }
    void unlock() {
        if (locks_) leave();
    }
    // The same within a call that waits: its thread is still here and makes progress.
    void step_out() {
        if (!locks_) return;
        ++waiting_;
        mutex_.unlock();
    }
    void step_in() {
        if (!locks_) return;
        mutex_.lock();
        --waiting_;
    }
    // For the helper. The caller of the first two is inside, and the only one unless multithreaded.
    void begin_helping() {
        if (!locks_) mutex_.lock();
        locks_ = helped_ = true;
    }
    void end_helping() {
        helped_ = false;
        locks_ = multithreaded_;
        if (!locks_) mutex_.unlock();
    }
    [[nodiscard]] HandOver& hand_over() { return hand_over_; }
    [[nodiscard]] bool try_to_help() { // false: somebody else is inside
        if (!mutex_.try_lock()) return false;
        if (waiting_ == 0) return true;
        mutex_.unlock();
        return false;
    }
    void stop_helping() { mutex_.unlock(); }

    // Something is expected from ranks of this node.
    [[nodiscard]] bool watches() const { return !watchers_.empty(); }
    [[nodiscard]] transport::shm::Transport& shm() { return shm_; }
    [[nodiscard]] transport::shm::Arena& arena() { return arena_; }
    [[nodiscard]] Counters& counters() { return shm_.own_block().counters; }
    [[nodiscard]] Recorder& recorder() { return shm_.own_block().recorder; }
    [[nodiscard]] bool oversubscribed() const {
        return local_ranks_ > usable_cpus_.load(std::memory_order_relaxed);
    }
    // Ranks outnumber CPUs, but most of them sleep.
    [[nodiscard]] bool few_awake() const {
        return shm_.awake() <= usable_cpus_.load(std::memory_order_relaxed);
    }
    // How many rounds a wait spins, as learned from earlier waits; proto/progress/wait.cpp.
    [[nodiscard]] uint32_t spin_limit() const { return spin_limit_; }
    void set_spin_limit(uint32_t rounds) { spin_limit_ = rounds; }
    // Looks in a row that found nothing; proto::poll().
    uint32_t note_vain_look() { return ++vain_looks_; }
    void note_luck() { vain_looks_ = 0; }
    [[nodiscard]] int world_rank() const { return world_rank_; }

  private:
    // Something that found its ring full: a send to be started, or a ready-made control line.
    struct Pending {
        transport::Peer peer;
        Operation* op; // null: the line below
        wire::Envelope envelope;
        std::byte payload[16];
        size_t bytes;
    };

    // send.cpp
    void send_to_self(Operation& op);
    transport::Sent try_start(Operation& op);
    transport::Sent send_eager(transport::Peer peer, const wire::Envelope& e, const Operation& op);
    transport::Sent start_rendezvous(Operation& op, wire::Envelope envelope);
    void post_line(transport::Peer peer, wire::Kind kind, const void* payload, size_t bytes,
                   uint32_t note = 0);
    transport::Sent send_rts(Operation& op, const wire::Envelope& e);
    transport::Sent send_rts_with_gaps(Operation& op, const wire::Envelope& e, wire::Rts& rts);
    int send_pending();
    int push_streams();
    bool push_fragments(Operation& op, int& sent);
    // receive.cpp
    void arrived(const transport::Arrival& a);
    void take_message(const Incoming& message);
    void accept(Operation& recv, const Incoming& message);
    void accept_rendezvous(Operation& recv, const Incoming& message);
    void ask_for_fragments(Operation& recv, const Incoming& message);
    [[nodiscard]] Operation* named_by(const transport::Arrival& a, wire::OperationId id,
                                      Operation::Kind kind) const;
    void take_cts(const transport::Arrival& a);
    void take_fragment(const transport::Arrival& a);
    void take_ack(const transport::Arrival& a);

    // The row of the communication matrix.
    void count_send(transport::Peer peer, const Operation& op) {
        counters().add_locked(Counter::sends);
        counters().add_locked(Counter::send_bytes, op.bytes);
        wire::PeerTraffic* t = traffic_of_peer_[peer];
        if (t == nullptr) [[unlikely]]
            t = traffic_of_peer_[peer] = &traffic_.meet(op.world_peer);
        t->part[op.context & 1U & ~(op.context >> 31U)].add(op.bytes);
    }

    // Memory for packed bytes, until the next call.
    [[nodiscard]] std::byte* staging(uint64_t bytes);
    [[nodiscard]] bool read_from_sender(const Operation& recv, const Incoming& message);

    // Sizes at which the path to a peer changes.
    [[nodiscard]] const Thresholds& limits(transport::Peer peer) {
        return oversubscribed() ? choice_.taking_turns() : choice_.with(peer);
    }
    [[nodiscard]] bool goes_at_once(const Operation& op, transport::Peer peer) {
        if (op.bytes <= wire::lines_max) return true;
        const Thresholds& t = limits(peer);
        if (op.layout != nullptr) return op.bytes <= t.gaps_eager_limit;
        if (op.bytes >= t.direct_min && arena_.place_of(op.buffer, op.bytes) != 0) return false;
        if (op.bytes <= t.eager_limit) return true;
        return op.bytes <= shm_.caps().bulk_max && asking_[peer].is_vain();
    }
    // joint.cpp
    bool copy_jointly(Operation& recv, const Incoming& message);
    [[nodiscard]] bool may_copy_jointly(const Operation& recv, const Incoming& message, PeerPlace& from);
    void offer_help(const JointCopying& copy, uint32_t index);
    [[nodiscard]] bool worth_a_note(const Operation& send);
    [[nodiscard]] bool copy_chunk(const JointCopying& copy, uint32_t chunk);
    [[nodiscard]] bool write_chunk(const Operation& send, transport::Peer to, const PeerPlace& place,
                                   uint64_t at, uint64_t bytes);
    bool finish_jointly(JointCopying& copy);
    void close_joint(JointCopying& copy);
    void abandon_joint(const Operation& recv);
    int look_at_joint_copies();
    void take_help(const transport::Arrival& a);

    bool copy_directly(Operation& recv, const Incoming& message);
    bool copy_by_kernel(Operation& recv, const Incoming& message);
    void answer(const Incoming& message, wire::Kind kind, const void* payload, size_t bytes);

    // remote.cpp
    // The peer of a rank on another host. False: it cannot be reached.
    [[gnu::cold]] bool find_remote(int world_rank, transport::Peer& peer);
    [[gnu::cold]] void finish_unreachable(Operation& op);
    transport::Sent try_start_remote(Operation& op);
    transport::Sent send_line(transport::Peer peer, const wire::Envelope& e, const std::byte* payload,
                              size_t bytes);
    void announced(const transport::Arrival& a, transport::ucx::Arriving& bytes, uint64_t length);
    void network_has_sent(Operation& op, transport::ucx::Outcome outcome);
    void accept_from_network(Operation& recv, const Incoming& message);
    void part_of_remote_send_done(Operation& op);
    void fail_remote(Operation& op);
    [[nodiscard]] bool is_remote(transport::Peer peer) const { return peer >= local_ranks_; }
    int poll_network(bool came_from_this_node);
    void get_to_know(transport::Peer peer);

    // cancel.cpp
    void finish_cancelled(Operation& op);
    void cancel_send(Operation& op);
    void take_withdraw(const transport::Arrival& a);
    void take_withdrawn(const transport::Arrival& a);

    // faults.cpp
    [[gnu::cold]] int take_news();
    [[gnu::cold]] [[nodiscard]] Err broken_with_faults(uint32_t context) const;
    [[gnu::cold]] [[nodiscard]] Err no_message_with_faults(uint32_t context, int source,
                                                           int world_source) const;
    void lose_peer(int world_rank);
    [[nodiscard]] bool is_gone(transport::Peer peer) const;
    [[nodiscard]] Err verdict_on(const Operation& op) const;
    int end_hopeless();
    int end_pending();
    int end_posted();
    int end_in_table();
    int end_streams();
    int end_own_sends();
    void drop_joint(const Operation& recv);
    void finish_hopeless(Operation& op, Err why);

    void enter() {
        mutex_.lock();
        if (helped_) hand_over_.note_entry();
    }
    void leave() {
        const bool empty = helped_ && waiting_ == 0;
        const bool watches = !watchers_.empty();
        if (empty && shm_.waits_for_room()) shm_.wake_own(); // a helper that sleeps has not told the readers
        mutex_.unlock();
        if (empty) hand_over_.note_leave(watches);
    }
    int run_deferred();
    int look_at_watchers();
    void finish(Operation& op);
    [[gnu::cold]] void finish_without_memory(Operation& send);

    // Peers are numbered through: those of this node first, then those that the network has met.
    uint32_t local_ranks_;
    std::unique_ptr<transport::ucx::Network> network_;
    void (*on_give_back_)(uint32_t) = nullptr;
    void (*on_revoke_)(uint32_t) = nullptr;
    void (*on_lost_)(int) = nullptr;
    bool foreign_ = false;
    const std::atomic<uint32_t>& news_; // in the segment
    Faults faults_;
    int clusters_ = 1;
    std::vector<int> cluster_of_node_;
    bool descriptors_taken_ = false;
    uint32_t rounds_alone_ = 0; // since something came from this node; many if the network was last
    transport::shm::Transport shm_;
    transport::kcopy::Reader kcopy_;
    transport::shm::Arena arena_;
    PairChoice choice_;
    std::vector<SourceSense> sense_; // per peer
    Skew skew_;
    std::vector<Asking> asking_; // per peer
    std::vector<Asking> noting_; // per peer: the same for messages with gaps that are described
    PeerPlaces peer_places_;
    Matcher matcher_;
    OperationTable table_;
    std::deque<Pending> pending_;           // in order; per peer this order is the order of sending
    std::vector<uint32_t> pending_of_peer_; // entries of pending_ per peer
    std::vector<uint64_t> full_in_pass_;    // per peer: the last pass over pending_ that found its ring full
    uint64_t pass_ = 0;
    std::vector<Operation*> streams_; // sends whose receiver is ready
    std::vector<std::byte> staging_;  // packed bytes between two layouts
    IntrusiveList<Deferred> deferred_;
    IntrusiveList<Watcher> watchers_;
    JointCopying joint_[wire::joint_copies];
    uint32_t joint_under_way_ = 0;
    uint32_t joint_number_ = 0;
    std::mutex mutex_;
    uint32_t waiting_ = 0; // threads that have stepped out
    HandOver hand_over_;
    int world_rank_;
    uint32_t spin_limit_ = UINT32_MAX;
    uint32_t vain_looks_ = 0;
    bool multithreaded_ = false;
    bool helped_ = false;
    bool locks_ = false;                       // either
    const std::atomic<uint32_t>& usable_cpus_; // in the segment: not known before all ranks have joined
    boot::TrafficWriter traffic_;
    std::vector<wire::PeerTraffic*> traffic_of_peer_; // null: nothing was sent to it yet
};

} // namespace zipmpi::proto
