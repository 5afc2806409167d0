// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The inside of the module zipmpi_ucx.so: one UCX context and worker, and the peers this process has met.
#pragma once

#include "transport/ucx/greeting.hpp"
#include "transport/ucx/network.hpp"

#include <array>
#include <deque>
#include <memory>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zipmpi::transport::ucx {

inline constexpr unsigned pass_index_bits = 24; // of a pass: which peer; the others cannot be guessed

struct Arriving {
    void* descriptor; // of UCX
    uint64_t bytes;
};

class Engine final : public Network {
  public:
    explicit Engine(const Settings& settings);
    ~Engine() override;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    bool start(const char* devices, std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_; }
    int reach(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override { return peers_[peer].world_rank; }
    void forget(int world_rank) override;
    Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                const Memory& data) override;
    Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    void receive(Arriving& bytes, const Memory& to) override;
    void drop(Arriving& bytes) override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return descriptor_; }
    bool arm() override { return ucp_worker_arm(worker_) == UCS_OK; }
    [[nodiscard]] bool idle() const override { return under_way_ == 0; }
    [[nodiscard]] uint64_t strangers() const override { return strangers_; }

  private:
    // A message that came before another one that was sent earlier.
    struct Early {
        uint32_t number;
        std::string header;
        std::string data;
        Arriving* bytes; // of a long one
    };
    struct Known {
        int world_rank = -1;
        ucp_ep_h endpoint = nullptr;
        uint64_t pass = 0;       // on messages to it; 0: it has not given one yet
        uint64_t given_pass = 0; // on messages from it
        uint32_t sent = 0;       // messages so far
        uint32_t taken = 0;
        bool lost = false;
        std::array<uint8_t, wire::nonce_bytes> nonce{}; // of our hello
        std::vector<Early> early;
    };
    // What stands for memory with gaps while UCX works: a list of its pieces, or packed bytes.
    struct Gaps {
        std::vector<ucp_dt_iov_t> pieces;
        std::vector<std::byte> packed;
    };
    // A message, or a greeting, that UCX has not finished with.
    struct Sending {
        Engine* engine;
        std::byte header[wire::net_header_max];
        Memory data;
        Gaps gaps;
        std::string greeting;
        Sending* next_free;
    };
    struct Receiving {
        Engine* engine;
        Memory to;
        Gaps gaps;
        Arriving* bytes;
    };

    // greet.cpp
    Known& meet(int world_rank);
    bool connect(Known& peer, std::string_view address);
    void greet(Known& peer, uint16_t kind, const uint8_t (&nonce)[wire::nonce_bytes]);
    void take_hello(std::span<const std::byte> bytes);
    void take_welcome(std::span<const std::byte> bytes);
    void lose(Known& peer, const char* why);
    // messages.cpp
    Posted post(Peer peer, unsigned kind, const wire::Envelope& envelope, const std::byte* payload,
                const Memory& data, uint32_t flags);
    Sending& take_sending();
    void give_back(Sending& sending);
    ucs_status_t take(std::span<const std::byte> header, std::span<const std::byte> data, Arriving* bytes);
    void hand_up(Peer from, std::span<const std::byte> header, std::span<const std::byte> data,
                 Arriving* bytes);
    void hand_up_early(Peer from);

    // What UCX is asked to do with something that stays in its Sending until on_sent().
    static ucp_request_param_t asking_for(Sending& sending, uint32_t flags);
    // Whose callback it is, unless its data is not there yet: then it is a stranger's.
    static Engine* with_data(void* self, const ucp_am_recv_param_t* param);
    static ucs_status_t on_greeting(void* self, const void*, size_t, void* data, size_t length,
                                    const ucp_am_recv_param_t* param);
    static ucs_status_t on_line(void* self, const void*, size_t, void* data, size_t length,
                                const ucp_am_recv_param_t* param);
    static ucs_status_t on_message(void* self, const void* header, size_t header_length, void* data,
                                   size_t length, const ucp_am_recv_param_t* param);
    // What UCX needs to know of memory: a pointer, a count, and its type in param.
    std::pair<void*, size_t> describe(const Memory& memory, Gaps& gaps, ucp_request_param_t& param);
    bool list_pieces(const Memory& memory, Gaps& gaps) const;
    std::vector<std::byte> take_room(uint64_t bytes);
    void give_back_room(std::vector<std::byte>&& room);
    static void on_sent(void* request, ucs_status_t status, void* user_data);
    static void on_received(void* request, ucs_status_t status, size_t length, void* user_data);
    static void on_lost(void* self, ucp_ep_h endpoint, ucs_status_t status);
    void finish_receiving(Receiving& receiving, ucs_status_t status);
    bool listen();

    int world_rank_;
    bool watch_peers_;
    std::array<uint8_t, wire::job_key_bytes> key_{};
    Sink sink_;
    AddressBook book_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    int descriptor_ = -1;
    std::string address_;
    std::deque<Known> peers_; // in place: a callback may add one
    std::unordered_map<int, Peer> by_rank_;
    std::deque<Sending> sendings_;
    Sending* free_ = nullptr;
    std::vector<std::vector<std::byte>> rooms_; // for packed bytes, kept: fresh memory is slow
    bool gathers_ = false;                      // the devices gather and scatter by themselves
    uint64_t under_way_ = 0;                    // sends
    uint64_t strangers_ = 0;
    int happened_ = 0; // since progress() began
};

} // namespace zipmpi::transport::ucx
