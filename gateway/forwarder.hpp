// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Passes frames on: from one of the networks of this gateway to another, or over a link to another gateway.
// Nothing here has to survive: what is lost is sent again by the ends.
#pragma once

#include "bridge/frame.hpp"
#include "bridge/routes.hpp"
#include "gateway/counters.hpp"
#include "transport/ucx/frame_network.hpp"
#include "transport/ucx/stream.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

namespace zipmpi::gateway {

using transport::Peer;
using transport::ucx::Posted;

struct Setting {
    bridge::Grid grid;
    int number = 0; // of this gateway
    int job_size = 0;
    uint64_t job = 0;
    uint64_t pool = 0;               // bytes that may lie here
    std::function<int(int)> node_of; // of a rank
    std::span<const uint8_t, wire::job_key_bytes> key;
};

class Forwarder;

// A way to the next one: a network, or a link. Frames that it does not take yet wait here.
struct Transit {
    std::vector<std::byte> head;
    std::vector<std::byte> copy;
    std::span<const std::byte> data;
    void* descriptor = nullptr;            // of the network that it came from
    transport::ucx::Room* piped = nullptr; // has the end of the data
    int from = -1;                         // id of the one before
    int network = -1;                      // that it came from; -1: a link
    uint64_t bytes = 0;
};

class Forwarder {
  public:
    Forwarder(Setting setting, Shown& shown);
    // Opens the network of an attachment on these devices. book: where ranks and gateways are.
    bool open(int cluster, const std::string& devices, const transport::ucx::AddressBook& book,
              std::string& why);
    [[nodiscard]] const std::string& address(int cluster) const;
    // Says hello to all in its networks: to one who was here before nobody speaks first.
    void greet_all();
    // Looks at all networks, or only at those for which ready() was called or arm() was in vain.
    int progress(bool all);
    bool arm();
    [[nodiscard]] std::vector<int> descriptors() const;
    void ready(size_t network) { attached_[network].ready = true; } // its descriptor can be read

    // A frame, from a network or a link; all of its bytes are valid during the call. True: the descriptor is
    // kept.
    bool take(int network, int from, std::span<const std::byte> head, std::span<const std::byte> data,
              void* descriptor, transport::ucx::Room* piped);
    void left(Transit* transit);
    bridge::Routes& routes() { return routes_; }
    // The link to another gateway is up, or down: those in our networks are told what we reach.
    void link_changed(int gateway, bool up);
    [[nodiscard]] bool full() const {
        return counters_.held_bytes.load(std::memory_order_relaxed) >= setting_.pool;
    }
    [[nodiscard]] const Setting& setting() const { return setting_; }
    [[nodiscard]] Shown& shown() const { return shown_; }
    // Set by the links: hands a frame to the link with this index. False: it is down. The other one is for
    // descriptors of frames that came over a link.
    std::function<bool(int link, Transit* transit)> send_over_link;
    std::function<void(void* descriptor)> let_go_of_link;

  private:
    struct Attached {
        Forwarder* owner;
        int index;
        int cluster;
        std::unique_ptr<transport::ucx::FrameNetwork> network;
        std::unordered_map<int, std::deque<Transit*>> waiting; // by id: it has not answered the hello
        std::unordered_map<int, uint64_t> owed;                // credit, by id
        std::vector<Peer> to_forget;
        bool ready = true;
    };
    // The way of the last short frame: the next is likely to take it too.
    struct Way {
        int network = -1, from = -1, to = -1;
        Attached* next = nullptr; // null: none is known
        Peer peer = 0;
        uint64_t* owed = nullptr; // credit to who sent it
    };
    [[nodiscard]] transport::ucx::Sink sink_of(Attached& a) const;
    bool answer_beat(int network, int from, wire::Frame frame);
    void give_credit(int network, int to, uint64_t bytes);
    void give_credit(Attached& a, int to, uint64_t& owed, uint64_t bytes);
    void tell_news(Attached& a, int id);
    void send_own(Attached& a, int id, wire::Frame frame, std::span<const std::byte> content);
    [[nodiscard]] const bridge::Hop* hop_of(const wire::Frame& frame);
    [[nodiscard]] int id_at(const bridge::Hop& hop, const wire::Frame& frame) const;
    bool find_way(int network, int from, const wire::Frame& frame);
    bool pass_short(int network, int from, const wire::Frame& frame, std::span<const std::byte> bytes);
    bool pass_on(Transit* transit, const wire::Frame& frame);
    void count(const wire::Frame& frame, uint64_t bytes);
    bool send(Attached& to, int id, Transit* transit);
    void send_waiting(Attached& to, int id);
    Transit* make_transit(int network, int from, const wire::Frame& frame, std::span<const std::byte> head,
                          std::span<const std::byte> data, void* descriptor, bool& kept);
    void end(Transit* transit);
    Attached* in_cluster(int cluster);

    Setting setting_;
    Shown& shown_;
    Counters& counters_; // of it
    bridge::Routes routes_;
    std::unordered_map<int, std::vector<bridge::Hop>> hops_; // by rank, until routes change
    std::deque<Attached> attached_;
    Way way_;
    const Transit* taking_ = nullptr; // while take() works on it: its data is not ours to give back
    bool took_its_end_ = false;
};

} // namespace zipmpi::gateway
