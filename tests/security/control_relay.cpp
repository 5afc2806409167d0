// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A man in the middle of a control connection: control_relay ALTERATIONS [SEED]. Each round connects the two
// ends of a control connection (handshake.hpp, frame_socket.hpp) through a relay that makes one alteration,
// in the handshake or later, and passes everything else on. Neither end may ever see a frame other than those
// sent, in order; none after the alteration in that direction; and no text may be readable in the relay.
#include "launch/protocol/crypto.hpp"
#include "launch/protocol/frame_socket.hpp"
#include "launch/protocol/handshake.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

enum class Alteration { flip, insert, drop, repeat, reorder, truncate, replay, reflect };
constexpr const char* names[] = {"flip",    "insert",   "drop",   "repeat",
                                 "reorder", "truncate", "replay", "reflect"};
constexpr size_t kinds = std::size(names);
constexpr int frames_each = 6;
constexpr const char* secret_text = "a text that the relay must not read";

[[noreturn]] void fail(const char* what, Alteration kind, uint64_t round) {
    std::fprintf(stderr, "control_relay: %s (alteration %s, round %llu)\n", what,
                 names[static_cast<size_t>(kind)], static_cast<unsigned long long>(round));
    std::exit(1);
}

std::string text_of(int number) { return secret_text + std::to_string(number); }

// One end: its handshake, then frames.
template <class Side>
class End {
  public:
    End(const Crypto& crypto, std::unique_ptr<Side> handshake, os::Fd socket)
        : crypto_(crypto)
        , handshake_(std::move(handshake))
        , fd_(std::move(socket)) {
        send_handshake();
    }
    // Reads what is there.
    void serve() {
        while (!closed && !frames_) {
            char bytes[128];
            const size_t room = std::min(sizeof bytes, handshake_->bytes_needed());
            const ssize_t n = recv(fd_.get(), bytes, room, MSG_DONTWAIT);
            if (n < 0) return;
            closed = n == 0 || handshake_->feed({bytes, static_cast<size_t>(n)}) == HandshakeState::rejected;
            if (!closed) send_handshake();
        }
        if (closed) return;
        closed = !frames_->receive();
        ControlFrame f;
        while (frames_->next(f)) received.push_back(f.payload);
    }
    void send(int number) {
        if (frames_ && !closed) frames_->send(ControlFrameType::output, text_of(number));
    }
    [[nodiscard]] bool is_ready() const { return frames_.has_value() && !closed; }

    std::vector<std::string> received;
    bool closed = false;

  private:
    void send_handshake() {
        const std::string out = handshake_->take_output();
        if (!out.empty() && ::send(fd_.get(), out.data(), out.size(), MSG_NOSIGNAL) < 0) closed = true;
        if (handshake_->state() != HandshakeState::authenticated) return;
        frames_.emplace(std::move(fd_), std::make_unique<RecordChannel>(crypto_, handshake_->record_keys()));
    }
    const Crypto& crypto_;
    std::unique_ptr<Side> handshake_;
    os::Fd fd_;
    std::optional<FrameSocket> frames_;
};

// One direction of the relay. It receives messages as units, as on a real network with TCP_NODELAY.
struct Direction {
    os::Fd from, to;
    std::string held; // for reorder
    int units = 0;    // passed so far
    bool cut = false;
    bool altered = false;
};

class Relay {
  public:
    Relay(std::mt19937_64& random, Alteration kind, const std::string& earlier)
        : random_(random)
        , kind_(kind)
        , earlier_(earlier)
        , direction_(static_cast<int>(random() % 2))
        , unit_(static_cast<int>(random() % (frames_each + 2))) {}

    void pass(int index, std::vector<std::string>& log) {
        Direction& d = directions[index];
        char bytes[4096];
        const ssize_t n = d.cut ? -1 : recv(d.from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (n <= 0) return;
        std::string unit(bytes, static_cast<size_t>(n));
        log.push_back(unit);
        if (index == direction_ && d.units++ == unit_) {
            const std::string changed = alter(unit, d, log);
            if (changed == unit && !d.cut && d.held.empty()) return send(d, unit);
            d.altered = true;
            return send(d, changed);
        }
        if (!d.held.empty()) unit += std::exchange(d.held, {});
        send(d, unit);
    }
    [[nodiscard]] int direction() const { return direction_; }

    Direction directions[2];

  private:
    static void send(Direction& d, const std::string& unit) {
        if (!unit.empty()) static_cast<void>(::send(d.to.get(), unit.data(), unit.size(), MSG_NOSIGNAL));
        if (d.cut) shutdown(d.to.get(), SHUT_WR);
    }
    size_t place(const std::string& unit) { return random_() % unit.size(); }
    std::string alter(std::string unit, Direction& d, const std::vector<std::string>& log) {
        switch (kind_) {
        case Alteration::flip:
            if (char& c = unit[place(unit)]; true) c = static_cast<char>(c ^ (1 << random_() % 8));
            return unit;
        case Alteration::insert:
            return unit.insert(place(unit), std::string(1 + random_() % 8, static_cast<char>(random_())));
        case Alteration::drop:
            return random_() % 2 == 0 ? std::string() : unit.erase(place(unit), 1 + random_() % 8);
        case Alteration::repeat:
            return unit + unit;
        case Alteration::reorder:
            d.held = unit;
            return {};
        case Alteration::truncate:
            d.cut = true;
            return unit.substr(0, place(unit));
        case Alteration::replay: // of another connection with the same key
            return earlier_.empty() ? unit + unit : earlier_;
        case Alteration::reflect:
            return log[random_() % log.size()] + unit;
        }
        return unit;
    }
    std::mt19937_64& random_;
    Alteration kind_;
    std::string earlier_;
    int direction_;
    int unit_;
};

struct Pair {
    os::Fd ours, theirs;
    Pair() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
        ours = os::Fd(ends[0]);
        theirs = os::Fd(ends[1]);
    }
};

Nonce nonce_of(std::mt19937_64& random) {
    Nonce nonce;
    for (uint8_t& b : nonce) b = static_cast<uint8_t>(random());
    return nonce;
}

// Every frame received must be the next one sent.
void check(const std::vector<std::string>& received, int first, Alteration kind, uint64_t round) {
    for (size_t i = 0; i < received.size(); ++i)
        if (received[i] != text_of(first + static_cast<int>(i)))
            fail("a frame was accepted that was not sent", kind, round);
}

struct Outcome {
    uint64_t made = 0, refused = 0, waiting = 0;
};

// `unit`: of a connection with the same key, kept for later rounds.
void run_round(const Crypto& crypto, std::mt19937_64& random, uint64_t round, std::string& kept,
               Outcome& sum) {
    const auto kind = static_cast<Alteration>(round % kinds);
    const JobKey key{1, 2, 3};
    Pair a;
    Pair b;
    Relay relay(random, kind, kept);
    relay.directions[0] = {os::Fd(dup(a.theirs.get())), os::Fd(dup(b.theirs.get())), {}};
    relay.directions[1] = {std::move(b.theirs), std::move(a.theirs), {}};
    End acceptor(crypto, std::make_unique<HandshakeAcceptor>(key, nonce_of(random), crypto.new_exchange()),
                 std::move(a.ours));
    End connector(crypto,
                  std::make_unique<HandshakeConnector>(key, nonce_of(random), crypto.new_exchange(), 7),
                  std::move(b.ours));
    std::vector<std::string> log;
    constexpr int first_of_connector = 1000;
    int sent = 0;
    size_t before = SIZE_MAX; // frames that had arrived when the alteration was made
    Direction& altered = relay.directions[relay.direction()];
    std::vector<std::string>& receiver = relay.direction() == 0 ? connector.received : acceptor.received;
    for (int step = 0; step < 4 * frames_each + 8; ++step) {
        for (const int index : {0, 1}) {
            const size_t had = receiver.size();
            relay.pass(index, log);
            if (altered.altered && before == SIZE_MAX) before = had;
            acceptor.serve();
            connector.serve();
        }
        if (!acceptor.is_ready() || !connector.is_ready() || sent >= 2 * frames_each) continue;
        acceptor.send(sent);
        connector.send(first_of_connector + sent++);
    }
    check(acceptor.received, first_of_connector, kind, round);
    check(connector.received, 0, kind, round);
    for (const std::string& unit : log)
        if (unit.find(secret_text) != std::string::npos) fail("a text was readable", kind, round);
    if (!log.empty()) kept = log[random() % log.size()];
    if (!altered.altered) return;
    ++sum.made;
    // The altered unit may begin with an authentic record.
    if (receiver.size() > before + 1) fail("frames were accepted after the alteration", kind, round);
    const bool refused = relay.direction() == 0 ? connector.closed : acceptor.closed;
    ++(refused ? sum.refused : sum.waiting);
}

} // namespace

int main(int argc, char** argv) {
    const uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
    const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    std::string why;
    const Crypto* const crypto = os::load_crypto(why);
    if (crypto == nullptr) return std::fprintf(stderr, "control_relay: %s\n", why.c_str()), 1;
    std::mt19937_64 random(seed);
    std::string kept;
    Outcome sum;
    for (uint64_t round = 0; sum.made < wanted && round < 4 * wanted; ++round)
        run_round(*crypto, random, round, kept, sum);
    std::printf(
        "%llu alterations: %llu closed the connection, %llu left it waiting for bytes, none was accepted\n",
        static_cast<unsigned long long>(sum.made), static_cast<unsigned long long>(sum.refused),
        static_cast<unsigned long long>(sum.waiting));
    return sum.made >= wanted && sum.refused > 0 ? 0 : 1;
}
