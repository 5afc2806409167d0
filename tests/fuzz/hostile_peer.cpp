// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank with receives and sends under way, and a peer on another host that sends whatever the fuzzer likes:
// envelopes, payloads, long messages, greetings, and what launcher and daemons say to each other. Nothing of
// it may crash, read or write beyond a buffer, or be taken for a proof.
#include "launch/link/frame.hpp"
#include "launch/link/hello.hpp"
#include "launch/link/messages.hpp"
#include "proto/p2p/lane.hpp"
#include "transport/ucx/greeting.hpp"
#include "transport/ucx/header.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

// The border hides what a long message is.
struct zipmpi::transport::ucx::Arriving {
    uint64_t bytes;
};

namespace zipmpi {
namespace {

using transport::ucx::Arriving;
using transport::ucx::Memory;
using transport::ucx::Outcome;
using transport::ucx::Posted;

class Input {
  public:
    Input(const uint8_t* data, size_t size)
        : rest_(reinterpret_cast<const std::byte*>(data), size) {}
    [[nodiscard]] bool empty() const { return rest_.empty(); }
    std::span<const std::byte> take(size_t n) {
        const auto taken = rest_.first(std::min(n, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    uint8_t byte() {
        const auto b = take(1);
        return b.empty() ? uint8_t{0} : static_cast<uint8_t>(b[0]);
    }

  private:
    std::span<const std::byte> rest_;
};

class FakeNetwork final : public transport::ucx::Network {
  public:
    explicit FakeNetwork(const transport::ucx::Sink& sink)
        : sink_(sink) {}
    [[nodiscard]] const std::string& address() const override { return address_; }
    int reach(int) override { return 0; }
    Posted send(transport::Peer, const wire::Envelope&, const std::byte*, const Memory& data) override {
        return post(data);
    }
    Posted send_long(transport::Peer, const wire::Envelope&, const std::byte*, const Memory& data) override {
        return post(data);
    }
    void receive(Arriving& bytes, const Memory& to) override {
        const std::unique_ptr<Arriving> ended(&bytes);
        const std::vector<std::byte> data(to.bytes);
        if (to.at != nullptr)
            std::copy(data.begin(), data.end(), to.at);
        else
            sink_.store(to.operation, 0, data.data(), data.size());
        sink_.received(sink_.subject, to.operation, Outcome::done);
    }
    void drop(Arriving& bytes) override { delete &bytes; }
    int progress() override { return 0; }
    [[nodiscard]] int descriptor() const override { return -1; }
    bool arm() override { return false; }
    [[nodiscard]] bool idle() const override { return under_way_.empty(); }
    [[nodiscard]] uint64_t strangers() const override { return 0; }
    void finish_sends() {
        const auto ended = std::exchange(under_way_, {});
        for (void* operation : ended) sink_.sent(sink_.subject, operation, Outcome::done);
    }

  private:
    Posted post(const Memory& data) {
        if (data.operation == nullptr || ++posts_ % 2 == 0) return Posted::done;
        under_way_.push_back(data.operation);
        return Posted::under_way;
    }
    transport::ucx::Sink sink_;
    std::string address_;
    std::vector<void*> under_way_;
    unsigned posts_ = 0;
};

struct Pending {
    proto::Operation op;
    std::vector<std::byte> buffer;
};

class Rank {
  public:
    Rank()
        : lane_(segment(), 0, 0)
        , sink_(lane_.network_sink()) {
        auto network = std::make_unique<FakeNetwork>(sink_);
        network_ = network.get();
        lane_.use_network(std::move(network));
    }

    void step(Input& in) {
        switch (in.byte() % 9) {
        case 0:
        case 1:
            return receive(in);
        case 2:
            return send(in);
        case 3:
        case 4:
            return message(in);
        case 5:
            return announce(in);
        case 6:
            return network_->finish_sends();
        case 7:
            return batch(in);
        default:
            return words(in);
        }
    }

    void end() {
        network_->finish_sends();
        for (const auto& p : pending_) {
            if (p->op.complete) continue;
            if (p->op.kind == proto::Operation::Kind::recv) lane_.give_up_recv(p->op);
        }
        // Sends that wait for an acknowledgement go with the lane.
    }

  private:
    static const boot::NodeSegment& segment() {
        static const boot::NodeSegment* const made = [] {
            auto* s = new boot::NodeSegment;
            boot::Nodes nodes;
            nodes.node_of = {0, 1};
            nodes.count = 2;
            Problem why;
            if (!boot::NodeSegment::make("fuzz", {0}, 2, *s, why, &nodes)) std::abort();
            return s;
        }();
        return *made;
    }
    Pending& add(Input& in, proto::Operation::Kind kind, size_t bytes) {
        Pending& p = *pending_.emplace_back(std::make_unique<Pending>());
        p.buffer.resize(bytes);
        p.op.kind = kind;
        p.op.context = in.byte() % 4;
        p.op.tag = in.byte() % 4;
        p.op.source = p.op.peer = p.op.world_peer = 1;
        p.op.buffer = p.buffer.data();
        p.op.bytes = bytes;
        return p;
    }
    void receive(Input& in) {
        const uint8_t kind = in.byte();
        Pending& p = add(in, proto::Operation::Kind::recv, kind % 16 * 100U);
        if (kind % 5 == 0) p.op.source = proto::any_source;
        if (kind % 7 == 0) p.op.tag = proto::any_tag;
        lane_.start_recv(p.op);
    }
    void send(Input& in) {
        const uint8_t kind = in.byte();
        Pending& p = add(in, proto::Operation::Kind::send, kind % 2 != 0 ? 100'000U : kind);
        p.op.source = 0;
        p.op.synchronous = kind % 3 == 0;
        lane_.start_send(p.op);
        if (kind % 11 == 0) lane_.cancel(p.op);
    }
    // As the module hands it up: only the header has been checked.
    bool header(Input& in, wire::NetHeader& h, std::span<const std::byte>& payload) {
        const size_t n = in.byte() % (wire::net_header_max + 8);
        bytes_ = in.take(n);
        return transport::ucx::read_header(bytes_, h, payload);
    }
    void message(Input& in) {
        wire::NetHeader h{};
        std::span<const std::byte> payload;
        if (!header(in, h, payload)) return;
        const auto bulk = in.take(in.byte() * 4U);
        sink_.arrived(sink_.subject,
                      {0, h.envelope, payload.data(), bulk.empty() ? nullptr : bulk.data(), bulk.size()});
        lane_.progress();
    }
    void batch(Input& in) {
        auto rest = in.take(in.byte() * 4U);
        std::span<const std::byte> head;
        std::span<const std::byte> data;
        while (!rest.empty() && transport::ucx::next_in_batch(rest, head, data)) {
            wire::NetHeader h{};
            std::span<const std::byte> payload;
            if (!transport::ucx::read_header(head, h, payload)) continue;
            sink_.arrived(sink_.subject,
                          {0, h.envelope, payload.data(), data.empty() ? nullptr : data.data(), data.size()});
        }
        lane_.progress();
    }
    void announce(Input& in) {
        wire::NetHeader h{};
        std::span<const std::byte> payload;
        if (!header(in, h, payload)) return;
        auto* const bytes = new Arriving{in.byte() * 512U};
        sink_.announced(sink_.subject, {0, h.envelope, payload.data(), nullptr, 0}, *bytes, bytes->bytes);
    }
    // Whoever knows no key proves nothing.
    static void words(Input& in) {
        const uint8_t kind = in.byte();
        static constexpr std::array<uint8_t, wire::job_key_bytes> key{7};
        const auto bytes = in.take(in.byte() * 2U);
        const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        transport::ucx::Opened opened;
        if (transport::ucx::unseal(bytes, kind % 8, 1, key, opened)) std::abort();
        launch::HelloAcceptor acceptor(key, {});
        if (acceptor.feed(text) == launch::HelloState::proven) std::abort();
        launch::HelloConnector connector(key, {}, 1);
        if (connector.feed(text) == launch::HelloState::proven) std::abort();
    }

    proto::Lane lane_;
    transport::ucx::Sink sink_;
    FakeNetwork* network_ = nullptr;
    std::vector<std::unique_ptr<Pending>> pending_;
    std::span<const std::byte> bytes_;
};

} // namespace
} // namespace zipmpi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    zipmpi::Input in(data, size);
    zipmpi::Rank rank;
    for (int steps = 0; steps < 200 && !in.empty(); ++steps) rank.step(in);
    rank.end();
    return 0;
}
