// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A man in the middle of two ranks: network_relay ALTERATIONS [SEED]. Each round connects two networks of the
// engine `tcp` with net.seal=auth or full through a relay that makes one alteration, in the handshake or
// later, and passes everything else on. No message may be delivered other than those sent, in order, and with
// `full` no text may be readable in the relay.
#include "os/clock.hpp"
#include "os/crypto_module.hpp"
#include "transport/tcp_engine/tcp_network.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>

using namespace zipmpi;
using namespace zipmpi::transport;

namespace {

enum class Alteration { flip, insert, drop, repeat, reorder, truncate };
constexpr const char* names[] = {"flip", "insert", "drop", "repeat", "reorder", "truncate"};
constexpr size_t kinds = std::size(names);
constexpr const char* secret_text = "a text that the relay must not read";
constexpr size_t lengths[] = {0, 100, 3000, 20000};
constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};

std::string text_of(size_t number) {
    std::string text(lengths[number % std::size(lengths)], static_cast<char>('a' + number));
    return text.replace(0, std::min(text.size(), std::char_traits<char>::length(secret_text)), secret_text);
}

struct Round {
    uint64_t number;
    Alteration kind;
    uint64_t at; // offset in one direction
    size_t direction;
};

[[noreturn]] void fail(const char* what, const Round& round) {
    std::fprintf(stderr, "network_relay: %s (alteration %s, round %llu)\n", what,
                 names[static_cast<size_t>(round.kind)], static_cast<unsigned long long>(round.number));
    std::exit(1);
}

// Passes bytes on between two sockets, each of which it may have altered.
class Relay {
  public:
    Relay(const Round& round, bool reads_text)
        : round_(round)
        , reads_text_(reads_text)
        , listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof a;
        if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 ||
            listen(listener_.get(), 8) != 0 ||
            getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&a), &length) != 0)
            fail("no socket", round);
        port_ = a.sin_port;
    }
    // The address of a network, but with the port of the relay.
    std::string replace(const std::string& address) {
        stream::ContactInfo contact;
        if (!tcp_engine::parse_address(address, contact)) fail("no address", round_);
        target_ = contact.addresses[0];
        contact.addresses[0].port = port_;
        return tcp_engine::address_text(contact);
    }
    void pump() {
        if (os::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK)); fd)
            connect_target(std::move(fd));
        for (size_t direction = 0; direction < 2 && ends_[0]; ++direction) {
            char bytes[65536];
            const ssize_t n = recv(ends_[direction].get(), bytes, sizeof bytes, MSG_DONTWAIT);
            if (n > 0) pass(direction, {bytes, static_cast<size_t>(n)});
            if (n != 0 && (n > 0 || errno == EAGAIN)) continue;
            ends_[0].reset();
            ends_[1].reset();
        }
    }
    [[nodiscard]] bool has_altered() const { return altered_; }

  private:
    void connect_target(os::Fd fd) {
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = target_.address;
        a.sin_port = target_.port;
        os::Fd other(socket(AF_INET, SOCK_STREAM, 0));
        if (connect(other.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) fail("no target", round_);
        ends_[0] = std::move(fd);
        ends_[1] = std::move(other);
        passed_[0] = passed_[1] = 0;
    }
    void pass(size_t direction, std::string bytes) {
        if (bytes.find(secret_text) != std::string::npos) {
            if (!reads_text_) fail("a text was readable", round_);
        }
        const uint64_t begin = passed_[direction];
        passed_[direction] += bytes.size();
        if (!altered_ && direction == round_.direction && round_.at >= begin &&
            round_.at < passed_[direction])
            alter(bytes, round_.at - begin);
        static_cast<void>(::send(ends_[1 - direction].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }
    void alter(std::string& bytes, size_t at) {
        const std::string before = bytes;
        const size_t some = std::min<size_t>(bytes.size() - at, 1 + round_.number % 40);
        switch (round_.kind) {
        case Alteration::flip:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << round_.number % 8));
            break;
        case Alteration::insert:
            bytes.insert(at, some, static_cast<char>(round_.number));
            break;
        case Alteration::drop:
            bytes.erase(at, some);
            break;
        case Alteration::repeat:
            bytes.insert(at, bytes.substr(at, some));
            break;
        case Alteration::reorder:
            std::rotate(bytes.begin() + static_cast<ptrdiff_t>(at),
                        bytes.begin() + static_cast<ptrdiff_t>(at + some / 2),
                        bytes.begin() + static_cast<ptrdiff_t>(at + some));
            break;
        case Alteration::truncate:
            bytes.erase(at);
            break;
        }
        altered_ = bytes != before;
    }

    Round round_;
    bool reads_text_;
    os::Fd listener_;
    uint16_t port_ = 0;
    stream::TcpAddress target_;
    os::Fd ends_[2];
    uint64_t passed_[2] = {};
    bool altered_ = false;
};

class Rank final : public NetworkListener, public AddressResolver {
  public:
    Rank(int rank, const stream::Sealing& sealing) {
        NetworkConfig config{rank, {key, key}};
        config.devices = "lo";
        config.detect_from = 0;
        config.listener = this;
        config.resolver = this;
        std::string why;
        network = std::make_unique<tcp_engine::TcpNetwork>(config, FrameConfig{}, sealing);
        if (!network->start("lo", why))
            std::exit((std::fprintf(stderr, "network_relay: %s\n", why.c_str()), 1));
    }
    std::string find(int) override { return peer_address; }
    void message_arrived(const Arrival& message) override {
        messages.emplace_back(reinterpret_cast<const char*>(message.bulk), message.bulk_bytes);
        tags.push_back(message.envelope.tag);
    }
    void rts_arrived(const Arrival&, IncomingBulk& bytes, uint64_t) override { network->drop(bytes); }
    void send_finished(NetworkOperation*, OpStatus) override {}
    void fetch_finished(NetworkOperation*, OpStatus) override {}
    void peer_failed(Peer, const char*) override { has_failed = true; }
    void pack(NetworkOperation*, uint64_t, std::byte*, size_t) override {}
    void unpack(NetworkOperation*, uint64_t, const std::byte*, size_t) override {}
    size_t list_iov(NetworkOperation*, iovec*, size_t) override { return 0; }

    std::unique_ptr<tcp_engine::TcpNetwork> network;
    std::string peer_address;
    std::vector<std::string> messages;
    std::vector<int> tags;
    bool has_failed = false;
};

// Returns whether the relay has altered something; refused: a side has noticed.
bool run_round(const stream::Sealing& sealing, const Round& round, bool& refused) {
    Rank sender(0, sealing);
    Rank receiver(1, sealing);
    Relay relay(round, sealing.text == RecordText::readable);
    sender.peer_address = relay.replace(receiver.network->address());
    const int peer = sender.network->connect_to(1);
    std::vector<std::string> texts;
    for (size_t i = 0; i < std::size(lengths); ++i) texts.push_back(text_of(i));
    NetworkOperation operation;
    size_t sent = 0;
    int idle = 0;
    while (idle < 50 && receiver.messages.size() < texts.size() && !sender.has_failed &&
           !receiver.has_failed) {
        for (; sent < texts.size(); ++sent) {
            wire::Envelope e{};
            e.kind = wire::MessageKind::eager;
            e.tag = static_cast<int>(sent);
            const BufferRef data{reinterpret_cast<std::byte*>(texts[sent].data()), texts[sent].size(),
                                 &operation};
            if (sender.network->send(static_cast<Peer>(peer), e, nullptr, data) == PostStatus::would_block)
                break;
        }
        relay.pump();
        const int events = sender.network->progress() + receiver.network->progress();
        idle = events == 0 ? idle + 1 : 0;
        if (idle > 20) os::yield_cpu();
    }
    for (size_t i = 0; i < receiver.messages.size(); ++i)
        if (receiver.tags[i] != static_cast<int>(i) || receiver.messages[i] != texts[i])
            fail("an altered message was delivered", round);
    refused = sender.has_failed || receiver.has_failed ||
              sender.network->rejected_messages() + receiver.network->rejected_messages() != 0;
    return relay.has_altered();
}

} // namespace

int main(int argc, char** argv) {
    const uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
    std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    std::string why;
    const Crypto* const crypto = os::load_crypto(why);
    if (crypto == nullptr) return std::fprintf(stderr, "network_relay: %s\n", why.c_str()), 1;
    uint64_t made = 0;
    uint64_t noticed = 0;
    for (uint64_t i = 0; made < wanted && i < 4 * wanted; ++i) {
        const stream::Sealing sealing{crypto, i % 2 == 0 ? RecordText::encrypted : RecordText::readable};
        const uint64_t span = random() % 4 == 0 ? 128 : 24000; // the handshake, or everything
        const Round round{i, static_cast<Alteration>(random() % kinds), random() % span,
                          random() % 8 == 0 ? 1U : 0U};
        bool refused = false;
        if (!run_round(sealing, round, refused)) continue;
        ++made;
        noticed += refused ? 1 : 0;
    }
    std::printf("%llu alterations: %llu closed a connection, the others left it waiting for bytes, none was "
                "accepted\n",
                static_cast<unsigned long long>(made), static_cast<unsigned long long>(noticed));
    return made >= wanted && noticed > made / 2 ? 0 : 1;
}
