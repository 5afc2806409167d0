// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank whose peers write what the fuzzer generates: slots and cells of the shared memory of the node,
// batches and replies of one-sided operations, layouts, headers of segments. The rank must not access memory
// outside of its buffers, its window and the segment.
#include "hwtopo/topology_module.hpp"
#include "input.hpp"
#include "os/memory.hpp"
#include "os/module_folder.hpp"
#include "packing/serialize.hpp"
#include "proto/coll/shm/coll_memory.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/am_path.hpp"
#include "proto/rma/window.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <memory>
#include <unistd.h>
#include <vector>

namespace zipmpi {
namespace {

// Two ranks of one node; the second one is hostile.
struct Node {
    segment::NodeSegment segment;
    Node() {
        Diagnostic why;
        if (!segment::NodeSegment::make("fuzz", {0, 1}, 2, segment, why)) std::abort();
    }
};

// Fills an object with bytes of the fuzzer.
template <class T>
T take(Input& in) {
    T value{};
    const auto bytes = in.take(sizeof value);
    if (!bytes.empty()) std::memcpy(static_cast<void*>(&value), bytes.data(), bytes.size());
    return value;
}

class Victim {
  public:
    Victim()
        : engine_(node_.segment, 0, 0) {
        proto::ProgressEngine hostile(node_.segment, 1, 1); // opens both rings
        proto::Team team{&hostile, context, 1, 2, proto::RankMap(0), 0};
        proto::Operation hello = proto::make_send(team, nullptr, 0, 0, 0);
        hostile.start_send(hello);
        proto::Team own{&engine_, context, 0, 2, proto::RankMap(0), 0};
        proto::Operation reply = proto::make_recv(own, nullptr, 0, 1, 0);
        engine_.start_recv(reply);
        while (engine_.progress() != 0) {
        }
    }

    void step(Input& in) {
        switch (in.byte() % 8) {
        case 0:
            return receive(in);
        case 1:
            return send(in);
        case 2: // the state of the ring in which this rank sends
            ring(1, 0).consumed.store(take<uint32_t>(in));
            break;
        case 3: // released cells
            cell(in).released.store(take<uint32_t>(in));
            break;
        default:
            write_slot(in);
        }
        engine_.progress();
    }
    void end() {
        for (Pending& p : pending_)
            if (p.op.kind == proto::Operation::Kind::recv && !p.op.done()) engine_.abandon_recv(p.op);
    }

  private:
    static constexpr uint32_t context = 2;
    struct Pending {
        proto::Operation op;
        std::vector<std::byte> data;
    };
    wire::Ring& ring(uint32_t to, uint32_t from) { return node_.segment.ring(to, from); }
    wire::CellHead& cell(Input& in) {
        const uint32_t cells = node_.segment.geometry().cells_per_rank;
        return *reinterpret_cast<wire::CellHead*>(node_.segment.cell(in.byte() % 2, in.byte() % cells));
    }
    Pending& add(Input& in, proto::Operation::Kind kind) {
        Pending& p = pending_.emplace_back();
        p.data.resize(in.byte() * (in.byte() % 4 == 0 ? 1000U : 5U));
        p.op.kind = kind;
        p.op.context = context;
        p.op.source = kind == proto::Operation::Kind::send ? 0 : 1;
        p.op.peer = p.op.world_peer = 1;
        p.op.tag = in.byte() % 4;
        p.op.buffer = p.data.data();
        p.op.bytes = p.data.size();
        return p;
    }
    void receive(Input& in) { engine_.start_recv(add(in, proto::Operation::Kind::recv).op); }
    void send(Input& in) {
        Pending& p = add(in, proto::Operation::Kind::send);
        p.op.synchronous = in.byte() % 2 == 0;
        engine_.start_send(p.op);
    }
    // The next slots, with the sequence numbers that make this rank read them.
    void write_slot(Input& in) {
        wire::Ring& r = ring(0, 1);
        const uint32_t lines = 1 + in.byte() % 6;
        const bool plausible = in.byte() % 2 == 0;
        for (uint32_t i = 0; i < lines; ++i) {
            wire::RingSlot& slot = r.slot[(written_ + i) % wire::ring_slots];
            const auto bytes = in.take(sizeof slot - sizeof slot.seq);
            auto* const content = reinterpret_cast<std::byte*>(&slot.envelope);
            std::copy(bytes.begin(), bytes.end(), content);
            if (i == 0 && plausible) {
                slot.envelope.kind =
                    static_cast<wire::MessageKind>(static_cast<uint8_t>(slot.envelope.kind) % 14);
                slot.envelope.context = context;
                slot.envelope.source = 1;
                slot.envelope.tag %= 4;
                slot.envelope.flags &= 7;
                slot.envelope.inline_bytes %= 48;
            }
            if (i > 0) slot.seq.store(written_ + i + 1);
        }
        wire::RingSlot& first = r.slot[written_ % wire::ring_slots];
        first.seq.store(written_ + 1);
        wire::RankBlock& block = node_.segment.block(0);
        block.arrival_bitmap[0].fetch_or(2);
        for (int i = 0; i < 4; ++i) engine_.progress();
        written_ += 1 + (first.envelope.flags & wire::flag_multislot ? first.envelope.extra_slots % 5U : 0U);
    }

    Node node_;
    std::list<Pending> pending_; // outlives the engine
    proto::ProgressEngine engine_;
    uint32_t written_ = 1; // slots, including the hello
};

// A network without a peer: what this rank sends is lost.
class NoNetwork final : public transport::Network {
  public:
    [[nodiscard]] const std::string& address() const override { return address_; }
    int connect_to(int) override { return 0; }
    [[nodiscard]] int rank_of(transport::Peer) const override { return 1; }
    transport::PostStatus send(transport::Peer, const wire::Envelope&, const std::byte*,
                               const transport::BufferRef&) override {
        return transport::PostStatus::done;
    }
    transport::PostStatus send_rendezvous(transport::Peer, const wire::Envelope&, const std::byte*,
                                          const transport::BufferRef&) override {
        return transport::PostStatus::done;
    }
    void fetch(transport::IncomingBulk&, const transport::BufferRef&) override {}
    void drop(transport::IncomingBulk&) override {}
    int progress() override { return 0; }
    [[nodiscard]] int descriptor() const override { return -1; }
    bool arm() override { return true; }
    [[nodiscard]] bool idle() const override { return true; }
    [[nodiscard]] uint64_t rejected_messages() const override { return 0; }

  private:
    std::string address_;
};

bool decode_accumulate(uint32_t code, proto::rma::AccumulateOp& c) {
    c.kind =
        code % 3 == 0 ? proto::rma::AccumulateOp::Kind::replace : proto::rma::AccumulateOp::Kind::fetch_only;
    c.element_bytes = 1U << (code / 3 % 4);
    c.alignment = c.element_bytes;
    return code < 100;
}
bool decode_swap(uint32_t code, proto::rma::CompareSwapOp& s) {
    s.bytes = code % 2 == 0 ? 8 : 4;
    s.cpu_atomic = false;
    return code < 100;
}

// A window of this rank and of one on another host, which is hostile.
class WindowVictim {
  public:
    WindowVictim() {
        segment::NodeTable nodes;
        nodes.node_of = {0, 1};
        nodes.count = 2;
        Diagnostic why;
        if (!segment::NodeSegment::make("fuzz", {0}, 2, segment_, why, &nodes)) std::abort();
        engine_ = std::make_unique<proto::ProgressEngine>(segment_, 0, 0);
        engine_->network_port().use(std::make_unique<NoNetwork>());
        team_ = {engine_.get(), context, 0, 2, proto::RankMap(0), 0};
        const uint64_t bytes = wire::WindowGeometry{2, 2}.total_bytes();
        const uint64_t control = proto::coll::allocate_coll_memory(segment_, bytes);
        std::memset(segment_.coll_memory(control), 0, bytes);
        regions_ = {{reinterpret_cast<uint64_t>(memory_.data()), memory_.size(), 1, 0, 0, 0},
                    {0, memory_.size(), 1, 0, 1, 0}};
        window_ = std::make_unique<proto::rma::Window>(team_, control, regions_,
                                                       proto::rma::OpDecoder{decode_accumulate, decode_swap},
                                                       proto::rma::WindowPolicy{});
    }
    void step(Input& in) {
        const uint8_t kind = in.byte();
        if (kind % 4 == 0) return get(in);
        message_.clear();
        if (kind % 2 == 0)
            append_reply(in);
        else
            append_batch(in);
        const wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, context, 1, kind % 2 == 0 ? 1 : 0, 0};
        engine_->network_events().message_arrived(
            {0, e, nullptr, message_.data(), std::min(message_.size(), wire::rma_message_bytes)});
        engine_->progress();
    }

  private:
    static constexpr uint32_t context = 8;
    // Outlives the window, which may still write its result.
    struct Fetch final : proto::rma::FetchOp {
        std::array<std::byte, 64> data;
        bool* done = nullptr;
        void on_done() override { *done = true; }
    };
    struct Factory final : proto::rma::FetchFactory {
        explicit Factory(Fetch& fetch)
            : FetchFactory(Completion::immediate)
            , fetch_(fetch) {}
        proto::rma::FetchOp* make() override { return &fetch_; }
        Fetch& fetch_;
    };
    template <class T>
    void append(const T& value) {
        const auto* const at = reinterpret_cast<const std::byte*>(&value);
        message_.insert(message_.end(), at, at + sizeof value);
    }
    void get(Input& in) {
        Fetch& fetch = fetches_.emplace_back();
        fetch.done = &done_.emplace_back(false);
        Factory factory(fetch);
        const uint64_t n = in.byte() % fetch.data.size();
        static_cast<void>(window_->get(1, {fetch.data.data(), nullptr, 0, n},
                                       {window_->target(1).address_of(0), nullptr, 0, n}, factory));
    }
    void append_batch(Input& in) {
        const uint8_t form = in.byte();
        auto head = take<wire::RmaBatch>(in);
        if (form % 2 == 0) head = {++number_, 0, head.flags & 1, 0};
        append(head);
        for (int i = form % 5; i > 0; --i) {
            auto request = take<wire::RmaRequest>(in);
            if (form % 3 != 0) {
                request.extra_segments %= 4;
                request.data_bytes %= 200;
                request.segment.offset %= 2 * memory_.size();
                request.segment.bytes %= 256;
                request.op %= 128;
            }
            append(request);
            const auto rest = in.take(request.extra_segments % 4 * sizeof(wire::RmaSegment) +
                                      wire::rma_padded(request.data_bytes % 200));
            message_.insert(message_.end(), rest.begin(), rest.end());
        }
    }
    void append_reply(Input& in) {
        append(take<wire::RmaBatchReply>(in));
        for (int i = in.byte() % 4; i > 0; --i) {
            auto reply = take<wire::RmaReply>(in);
            if (reply.bytes % 2 == 0) reply = {reply.id % 8, wire::RmaRefusal::none, reply.bytes % 64};
            append(reply);
            const auto rest = in.take(wire::rma_padded(reply.bytes % 128));
            message_.insert(message_.end(), rest.begin(), rest.end());
        }
    }

    segment::NodeSegment segment_;
    std::unique_ptr<proto::ProgressEngine> engine_;
    proto::Team team_;
    std::array<std::byte, 512> memory_{};
    std::vector<proto::rma::Region> regions_;
    std::list<Fetch> fetches_;
    std::list<bool> done_;
    std::vector<std::byte> message_;
    uint32_t number_ = 0;
    std::unique_ptr<proto::rma::Window> window_; // last: it receives until its end
};

void read_layout(Input& in) {
    std::vector<int64_t> numbers(in.byte() % 64U);
    for (int64_t& n : numbers) {
        const uint8_t form = in.byte();
        n = form < 128 ? form : form < 192 ? take<int16_t>(in) : take<int64_t>(in);
    }
    const packing::LayoutPtr layout = packing::deserialize(numbers.data(), numbers.size());
    if (layout == nullptr) return;
    int64_t low = 0;
    int64_t high = 0;
    if (!packing::data_bounds(*layout, 1 + in.byte(), low, high)) return;
    std::vector<int64_t> again(1024);
    const size_t n = packing::serialize(*layout, again.data(), again.size());
    if (n != 0 && packing::deserialize(again.data(), n) == nullptr) std::abort();
    constexpr int64_t most = 1 << 16;
    if (layout->size > most || high - low > most) return;
    std::vector<std::byte> memory(static_cast<size_t>(high - low));
    std::vector<std::byte> packed(static_cast<size_t>(layout->size));
    packing::pack(*layout, memory.data() - low, 1, 0, packed.data(), packed.size());
    packing::unpack(*layout, memory.data() - low, 1, 0, packed.data(), packed.size());
}

// The header of a segment, changed anywhere.
void attach_segment(Input& in) {
    Node node;
    auto* const header =
        reinterpret_cast<std::byte*>(&const_cast<wire::SegmentHeader&>(node.segment.header()));
    for (int i = in.byte() % 8; i > 0; --i) {
        const auto at = take<uint16_t>(in) % sizeof(wire::SegmentHeader);
        header[at] = static_cast<std::byte>(in.byte());
    }
    segment::NodeSegment other;
    Diagnostic why;
    if (!segment::NodeSegment::attach(os::Fd(dup(node.segment.fd())), other, why)) return;
    for (uint32_t r = 0; r < other.local_ranks(); ++r) // all within the mapping
        if (other.world_rank(r) < 0 || other.block(r).state.load() > 100) std::abort();
}

template <class Subject>
void run(Input& in) {
    Subject subject;
    for (int steps = 0; steps < 100 && !in.empty(); ++steps) subject.step(in);
    if constexpr (requires { subject.end(); }) subject.end();
}

} // namespace
} // namespace zipmpi

// libFuzzer reads the coverage of every module that was ever loaded, so that of the topology must stay.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
    using namespace zipmpi;
    dlopen(os::module_path(hwtopo::module_file).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace zipmpi;
    Input in(data, size);
    switch (in.byte() % 4) {
    case 0:
        run<Victim>(in);
        break;
    case 1:
        run<WindowVictim>(in);
        break;
    case 2:
        read_layout(in);
        break;
    default:
        attach_segment(in);
    }
    return 0;
}
