// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A man in the middle of a link between clusters that is marked untrusted: bridge_relay ALTERATIONS [SEED].
// Alters frames of one rank to another as bytes on the link, also with a correct checksum, and as a gateway
// that has its own key can. The receiving rank must accept no frame of a message with other contents.
#include "bridge/frame_codec.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

extern "C" zipmpi::transport::auth::Aead*
zipmpi_ucx_open_sealer_3(std::span<const uint8_t, zipmpi::wire::key_bytes> key);

using namespace zipmpi;
using namespace zipmpi::bridge;

namespace {

constexpr uint64_t job = 77;
constexpr int sender = 3;
constexpr int receiver = 5;
using Bytes = std::vector<std::byte>;

struct SealedFrame {
    Bytes bytes;       // as on the link
    Bytes text;        // payload and data, as the user gave them
    wire::Frame frame; // header
};

class RelayedLink {
  public:
    explicit RelayedLink(uint64_t seed)
        : random_(seed) {
        sending_.set_aead(*of_sender_);
        receiving_.set_aead(*of_receiver_);
        flow_.world_rank = receiver;
    }

    SealedFrame next_frame() {
        wire::MessageHead head{};
        SealedFrame made;
        made.text.resize(1 + random_() % 2000);
        for (std::byte& b : made.text) b = static_cast<std::byte>(random_());
        std::vector<SealedText> sealed;
        FrameCodec::FrameParts parts{{}, nullptr, std::as_bytes(std::span(&head, 1)), made.text, &sealed};
        parts.header.type = wire::FrameType::message;
        parts.header.sequence = sequence_++;
        parts.header.length = made.text.size();
        FrameBytes out{};
        if (!sending_.build(flow_, 0, parts, out)) std::abort();
        made.frame = parts.header;
        made.bytes.assign(out.bytes, out.bytes + out.used);
        made.bytes.insert(made.bytes.end(), parts.data.begin(), parts.data.end());
        return made;
    }

    // Changes bytes of the frame, and in half of the cases corrects the checksum of its header.
    void alter(SealedFrame& f, const SealedFrame& earlier) {
        const size_t places = 1 + random_() % 3;
        for (size_t i = 0; i < places; ++i) f.bytes[place(f)] ^= static_cast<std::byte>(1 << random_() % 8);
        switch (random_() % 5) {
        case 0: // the header of one frame with the contents of another
            std::memcpy(f.bytes.data(), earlier.bytes.data(), sizeof(wire::Frame));
            break;
        case 1:
            f.bytes.resize(place(f));
            break;
        case 2: // not marked as encrypted
            f.bytes[3] &= ~std::byte{wire::frame_encrypted};
            break;
        default:
            break;
        }
        if (random_() % 2 == 0 || f.bytes.size() < sizeof(wire::Frame)) return;
        wire::Frame header;
        std::memcpy(&header, f.bytes.data(), sizeof header);
        header.bytes = static_cast<uint32_t>(f.bytes.size() - sizeof header);
        finalize(header);
        std::memcpy(f.bytes.data(), &header, sizeof header);
    }

    enum class Verdict { rejected, of_gateway, accepted };
    Verdict receive(const Bytes& bytes, FrameView& inside) {
        FrameView view;
        if (!receiving_.parse(bytes, {}, view)) return Verdict::rejected;
        if (!receiving_.must_be_sealed(view)) return Verdict::of_gateway;
        return receiving_.open(view, bytes, {}, nullptr, opened_, inside) ? Verdict::accepted
                                                                          : Verdict::rejected;
    }

  private:
    size_t place(const SealedFrame& f) { return random_() % f.bytes.size(); }

    std::mt19937_64 random_;
    const std::array<uint8_t, wire::key_bytes> key_{1, 2, 3};
    std::unique_ptr<transport::auth::Aead> of_sender_{zipmpi_ucx_open_sealer_3(key_)};
    std::unique_ptr<transport::auth::Aead> of_receiver_{zipmpi_ucx_open_sealer_3(key_)};
    FrameCodec sending_{sender, job}, receiving_{receiver, job};
    Flow flow_;
    uint64_t sequence_ = 0;
    Bytes opened_;
};

// Gateways change hops and path; all other fields are authenticated.
bool same_contents(const FrameView& got, const SealedFrame& sent) {
    const wire::Frame& a = got.frame;
    const wire::Frame& b = sent.frame;
    return a.type == b.type && a.from == b.from && a.to == b.to && a.context == b.context && a.tag == b.tag &&
           a.sequence == b.sequence && a.offset == b.offset && a.length == b.length &&
           std::ranges::equal(got.data, sent.text);
}

} // namespace

int main(int argc, char** argv) {
    const uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
    RelayedLink link(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    SealedFrame earlier = link.next_frame();
    uint64_t rejected = 0;
    uint64_t unchanged = 0;
    uint64_t of_gateway = 0;
    for (uint64_t i = 0; i < wanted; ++i) {
        const SealedFrame sent = link.next_frame();
        FrameView inside;
        if (link.receive(sent.bytes, inside) != RelayedLink::Verdict::accepted ||
            !same_contents(inside, sent)) {
            std::fprintf(stderr, "bridge_relay: frame %llu was rejected without an alteration\n",
                         static_cast<unsigned long long>(i));
            return 1;
        }
        SealedFrame altered = sent;
        link.alter(altered, earlier);
        const RelayedLink::Verdict verdict = link.receive(altered.bytes, inside);
        if (verdict == RelayedLink::Verdict::accepted && !same_contents(inside, sent)) {
            std::fprintf(stderr, "bridge_relay: altered frame %llu was accepted\n",
                         static_cast<unsigned long long>(i));
            return 1;
        }
        ++(verdict == RelayedLink::Verdict::rejected   ? rejected
           : verdict == RelayedLink::Verdict::accepted ? unchanged
                                                       : of_gateway);
        earlier = sent;
    }
    std::printf("%llu alterations: %llu rejected, %llu only of fields that gateways change, %llu made frames "
                "of gateways, "
                "none was accepted\n",
                static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(rejected),
                static_cast<unsigned long long>(unchanged), static_cast<unsigned long long>(of_gateway));
    return rejected > wanted / 2 ? 0 : 1;
}
