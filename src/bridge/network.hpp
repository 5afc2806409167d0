// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network of a rank in a grid, with the border of any other: ranks in its own clusters are reached
// directly, others through the end of the bridge. The protocols above see no difference.
#pragma once

#include "bridge/end.hpp"
#include "bridge/routes.hpp"
#include "os/fd.hpp"
#include "transport/ucx/frame_network.hpp"

namespace zipmpi::bridge {

// Who is where.
struct Places {
    std::shared_ptr<const Grid> grid;
    int job_size = 0;
    void* subject = nullptr;
    int (*node_of)(void* subject, int world_rank) = nullptr;

    [[nodiscard]] const std::vector<int>& clusters_of(int world_rank) const {
        return grid->nodes[static_cast<size_t>(node_of(subject, world_rank))].clusters;
    }
    // In which cluster a rank reaches another, or a gateway; -1: in none.
    [[nodiscard]] int cluster_to(int own_rank, int id) const {
        return first_shared(clusters_of(own_rank),
                            id < job_size
                                ? clusters_of(id)
                                : bridge::clusters_of(grid->gateways[static_cast<size_t>(id - job_size)]));
    }
};

// What stands between the devices of several clusters.
inline constexpr char between_devices = ';';

// The number by which frames name a job.
uint64_t job_number(std::string_view job_id);
// From the knobs.
EndLimits end_limits();
uint64_t gateway_pool();
uint64_t gateway_spin_ns();
bool gateway_reports();
bool frames_by_streams();

class BridgedNetwork final : public transport::ucx::Network {
  public:
    // Says hello to the gateways of this rank. Null: why says so in words. Of a rank in several clusters the
    // devices are those of each.
    static std::unique_ptr<BridgedNetwork> open(const transport::ucx::Settings& settings,
                                                const Places& places, std::string_view job_id,
                                                std::string& why);

    [[nodiscard]] const std::string& address() const override { return inner_->address(); }
    // Where a rank in several clusters is reached in one of its clusters, by their order.
    [[nodiscard]] const std::string& address_in(size_t own_cluster) const;
    int reach(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override;
    void give_up(int world_rank) override;
    [[nodiscard]] uint64_t rendezvous_from(Peer peer) const override;
    [[nodiscard]] uint64_t longest_at_once(Peer peer) const override;
    Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                const Memory& data) override;
    Posted send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    void receive(transport::ucx::Arriving& bytes, const Memory& to) override;
    void drop(transport::ucx::Arriving& bytes) override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_.get(); }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    void leaving(bool yes) override { end_.leaving(yes); }
    [[nodiscard]] bool meets() const override { return inner_->meets(); }
    [[nodiscard]] uint64_t strangers() const override { return inner_->strangers(); }

    void meet_gateways();
    // Makes progress until they have answered and connections for frames are made: while a rank starts
    // others do too, later the first message would wait for it. Not for long: some may be dead.
    void settle();
    [[nodiscard]] const EndCounters& counters() const { return end_.counters(); }

  private:
    struct Place { // of a peer as the protocols number them
        bool far;
        Peer inner; // of the end, or of the network inside
    };
    struct LaneState {
        int gateway = -1;
        int peer = -1;            // of the network inside
        bool to_forget = false;   // at the next progress()
        uint64_t again_ns = 0;    // when to say hello again; 0: it will
        std::vector<int> blocked; // clusters to which it has no way
    };
    BridgedNetwork(const transport::ucx::Settings& settings, const Places& places, std::string_view job_id);
    template <bool far>
    [[nodiscard]] transport::ucx::Sink upwards(); // to the protocols, peers renumbered
    [[nodiscard]] transport::ucx::Sink inner_sink();
    [[nodiscard]] transport::ucx::Sink end_sink();
    [[nodiscard]] EndWorld end_world();
    Peer number(bool far, Peer inner);
    [[nodiscard]] int lane_of(int id) const;
    [[nodiscard]] bool share_cluster_with(int world_rank) const;
    [[nodiscard]] std::vector<int> lanes_to(int world_rank) const;
    std::unique_ptr<transport::ucx::FrameNetwork> open_inner(const transport::ucx::Settings& inner,
                                                             std::string& why);
    int look_after_lanes();
    bool set_timer(uint64_t due);
    [[nodiscard]] bool settled() const;
    void get_ready();
    void take_news(int lane, std::span<const std::byte> head, std::span<const std::byte> data);

    int own_rank_;
    Places places_;
    uint64_t job_;
    transport::ucx::Sink sink_; // of the protocols
    Routes routes_;
    std::vector<LaneState> lanes_;
    std::vector<Place> peers_;
    std::vector<int> by_near_, by_far_; // index in peers_; -1: none yet
    std::unordered_map<int, int> by_rank_;
    std::unique_ptr<transport::ucx::Sealer> sealer_; // if a link is not trusted
    End end_;
    bool gathers_ = false;      // frames that are sent now may wait for others
    std::vector<void*> riders_; // sends whose frames may wait
    os::Fd epoll_, timer_;
    uint64_t timer_ns_ = 0; // when the timer ends; 0: it is not set
    std::unique_ptr<transport::ucx::FrameNetwork>
        inner_; // the last: its end gives up frames of the one above
};

} // namespace zipmpi::bridge
