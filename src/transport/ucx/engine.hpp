// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The inside of the module zipmpi_ucx.so: one UCX context and worker, and the peers this process has met.
#pragma once

#include "transport/ucx/frame_network.hpp"
#include "transport/ucx/greeting.hpp"
#include "transport/ucx/lanes.hpp"
#include "transport/ucx/stream.hpp"
#include "wire/frame_layout.hpp"
#include "wire/stream_layout.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zipmpi::transport::ucx {

inline constexpr unsigned pass_index_bits = 24; // of a pass: which peer; the others cannot be guessed
inline constexpr size_t batch_bytes = 16U << 10;

struct Arriving {
    void* descriptor; // of UCX
    uint64_t bytes;
    bool scatters; // the device may write it to many places
};

class Engine final : public FrameNetwork {
  public:
    Engine(const Settings& settings, const FrameSettings& frames);
    ~Engine() override;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    bool start(const char* devices, std::string& why);

    [[nodiscard]] const std::string& address() const override { return address_; }
    int reach(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override { return peers_[peer].world_rank; }
    void give_up(int world_rank) override;
    Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                const Memory& data) override;
    Posted send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                     const Memory& data) override;
    void receive(Arriving& bytes, const Memory& to) override;
    void drop(Arriving& bytes) override;
    [[nodiscard]] uint64_t rendezvous_from(Peer peer) const override {
        return peers_[peer].way.reads_memory ? peers_[peer].way.rendezvous_from : 0;
    }
    int progress() override;
    [[nodiscard]] int descriptor() const override { return events_ ? events_.get() : descriptor_; }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    [[nodiscard]] bool meets() const override {
        return std::ranges::any_of(
            peers_, [](const Known& k) { return k.endpoint != nullptr && k.pass == 0 && !k.lost; });
    }
    [[nodiscard]] uint64_t strangers() const override { return strangers_; }
    Posted send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                      void* ticket, bool may_wait) override;
    [[nodiscard]] Room* piped(void* descriptor) const override;
    Posted send_piped(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                      void* ticket, Room& room) override;
    void send_waiting() override;
    [[nodiscard]] bool has_waiting() const override {
        return !waiting_frames_.empty() || !waiting_streams_.empty();
    }
    void let_go(void* descriptor) override;
    void withdraw(std::span<const std::byte> memory) override;
    [[nodiscard]] bool settled(Peer gateway) const override;
    void forget(Peer peer) override;

  private:
    // A message that came before another one that was sent earlier.
    struct Early {
        uint32_t number;
        std::string header;
        std::string data;
        Arriving* bytes; // of a long one
    };
    struct Sending;
    // Where a stream leads to.
    struct StreamEnd {
        Engine* engine;
        Peer peer;
    };
    struct Known {
        int world_rank = -1;
        ucp_ep_h endpoint = nullptr;
        uint64_t pass = 0;       // on messages to it; 0: it has not given one yet
        uint64_t given_pass = 0; // on messages from it
        uint32_t sent = 0;       // messages so far
        uint32_t taken = 0;
        uint32_t look = 0;         // the last one in which something was sent
        uint32_t since_look = 0;   // messages that were sent in it
        Sending* batch = nullptr;  // that still has room
        Sending* frames = nullptr; // the same, of frames
        bool lost = false;
        bool given_up = false;                          // for good
        Way way{};                                      // to it, once it has given a pass
        size_t address_hash = 0;                        // of where it is
        std::string address;                            // the same of those who may return
        std::array<uint8_t, wire::nonce_bytes> nonce{}; // of our hello
        uint64_t made_ns = 0;                           // when its endpoint was
        bool failed = false;                            // which UCX has said
        uint64_t heard_hello = 0;                       // number of its last one
        std::vector<Early> early;
        uint64_t token = 0;       // of an offer; 0: there is none, or it was used
        bool offers_none = false; // it has said so
        StreamEnd stream_end{};
        std::unique_ptr<Stream> stream; // for frames; null: they go by UCX
    };
    // An endpoint that nobody uses any more.
    struct Aside {
        ucp_ep_h endpoint;
        uint64_t until_ns; // when it is closed
    };
    // A connection that has not proven who it is.
    struct Newcomer {
        os::Fd fd;
        Peer peer = 0;     // that we have connected to
        bool ours = false; // we have
        bool asked = false;
        std::string in;
        std::array<uint8_t, wire::nonce_bytes> nonce{};
        uint64_t until_ns = 0;
    };
    // What stands for memory with gaps while UCX works: a list of its pieces, or packed bytes.
    struct Gaps {
        std::vector<ucp_dt_iov_t> pieces;
        std::vector<std::byte> packed;
    };
    // A message, or a greeting, that UCX has not finished with.
    struct Sending {
        Engine* engine;
        std::byte header[std::max(wire::net_header_max,
                                  sizeof(uint64_t) + wire::frame_head_max + wire::frame_small)];
        Memory data;
        Gaps gaps;
        std::string greeting;
        size_t used = 0;           // of a batch: bytes
        std::vector<void*> riders; // and whose messages are in it
        void* ticket;              // of a frame
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
    void take_hellos();
    void take_welcome(std::span<const std::byte> bytes);
    void lose(Known& peer, const char* why);
    void take_pass(Known& peer, uint64_t pass);
    void disconnect(Known& peer);
    static void close_now(ucp_ep_h endpoint);
    void close_aside();
    void make_stranger(Known& peer);
    void tell_met(Known& peer);
    // messages.cpp
    Posted post(Peer peer, unsigned kind, const wire::Envelope& envelope, const std::byte* payload,
                const Memory& data, uint32_t flags);
    // batch.cpp
    bool may_wait(Known& to, const Memory& data);
    Sending& new_batch();
    void send_batch(Known& to);
    void send_batches();
    static ucs_status_t on_batch(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param);
    // messages.cpp
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
    std::pair<void*, size_t> describe(const Memory& memory, Gaps& gaps, bool by_pieces,
                                      ucp_request_param_t& param);
    bool list_pieces(const Memory& memory, Gaps& gaps) const;
    std::vector<std::byte> take_room(uint64_t bytes);
    void give_back_room(std::vector<std::byte>&& room);
    static ucs_status_t on_frame(void* self, const void* header, size_t header_length, void* data,
                                 size_t length, const ucp_am_recv_param_t* param);
    ucs_status_t take_frame(std::span<const std::byte> head, std::span<const std::byte> data,
                            void* descriptor);
    ucs_status_t take_frames(std::span<const std::byte> bytes);
    bool gather(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data);
    void send_frames(Known& to);
    bool is_from(std::span<const std::byte>& bytes, Peer& from);
    bool waits(Known& to, size_t bytes);
    // streams.cpp
    bool open_events(const std::string& device);
    bool watch(int fd, uint64_t key, uint32_t events, bool again = false);
    void offer_stream(Known& peer);
    static ucs_status_t on_offer(void* self, const void*, size_t, void* data, size_t length,
                                 const ucp_am_recv_param_t* param);
    void take_offer(Peer from, const wire::StreamOffer& offer);
    void add_newcomer(os::Fd fd, Peer peer, bool ours);
    bool serve_newcomer(uint64_t number, Newcomer& newcomer);
    [[nodiscard]] std::string stream_greeting(uint16_t kind, const Known& peer,
                                              std::span<const uint8_t, wire::nonce_bytes> nonce) const;
    bool take_stream_greeting(Newcomer& newcomer);
    void begin_stream(Known& peer, os::Fd fd);
    void close_stream(Known& peer);
    void stream_is_over(Peer peer);
    Posted send_by_stream(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                          void* ticket, bool may_wait);
    void after_sending(Peer peer, bool went);
    void flush_streams();
    void read_stream(Peer peer);
    void write_streams();
    void watch_streams_out();
    bool look_around();
    bool look_at_streams();
    [[nodiscard]] Stream::User stream_user(Known& peer);
    static void on_sent(void* request, ucs_status_t status, void* user_data);
    static void on_received(void* request, ucs_status_t status, size_t length, void* user_data);
    static void on_lost(void* self, ucp_ep_h endpoint, ucs_status_t status);
    void finish_receiving(Receiving& receiving, ucs_status_t status);
    bool listen();

    int world_rank_;
    int watch_from_;
    bool gathers_;
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
    bool rdma_ = false;                         // some device may do it
    uint64_t under_way_ = 0;                    // sends
    uint32_t look_ = 1;                         // at the network: their number
    size_t batches_ = 0;                        // open, or not finished by UCX
    std::vector<Peer> waiting_batches_, waiting_frames_;
    std::vector<void*> spare_riders_; // memory for the next batch
    // Frames over TCP: what is watched, besides UCX's descriptor, and where we listen.
    FrameSettings frames_;
    os::Fd events_, listener_;
    wire::StreamOffer offer_{};
    Rooms rooms_of_streams_;
    std::map<uint64_t, Newcomer> newcomers_; // by age
    uint64_t next_newcomer_ = 0;
    size_t streams_ = 0;
    std::vector<Peer> waiting_streams_; // with frames that were gathered
    std::vector<Peer> writing_;         // with frames that did not leave at once
    std::vector<Peer> broken_streams_;
    int hot_ = -1;        // the stream of the peer from which something came last; -1: UCX
    bool touched_ = true; // UCX has been called since it was armed
    std::vector<std::vector<std::byte>> hellos_; // that came in this round
    std::vector<Aside> aside_;
    uint64_t strangers_ = 0;
    int happened_ = 0; // since progress() began
};

} // namespace zipmpi::transport::ucx
