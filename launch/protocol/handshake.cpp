// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/handshake.hpp"

#include "base/auth.hpp"

#include <cstring>

namespace zipmpi::launch {
namespace {

constexpr std::array<char, 8> magic = {'z', 'i', 'p', 'm', 'p', 'i', 'h', '2'};
constexpr std::array<char, 8> connects = {'c', 'o', 'n', 'n', 'e', 'c', 't', 0};
constexpr std::array<char, 8> accepts = {'a', 'c', 'c', 'e', 'p', 't', '.', 0};

template <class Message>
std::string bytes_of(const Message& m) {
    return {reinterpret_cast<const char*>(&m), sizeof m};
}

} // namespace

Handshake::~Handshake() {
    wipe(key_);
    wipe(record_keys_.sending);
    wipe(record_keys_.receiving);
}

Mac Handshake::mac_with(std::array<char, 8> direction) const {
    HandshakeTranscript covered = transcript_;
    covered.direction = direction;
    return mac_of(key_, message_bytes(covered));
}

bool Handshake::derive_keys(const PublicKey& peer, KeyBytes& from_acceptor, KeyBytes& from_connector) {
    std::array<KeyBytes, 2> secrets{KeyBytes{}, key_};
    const bool valid = exchange_->agree(peer, secrets[0]);
    exchange_.reset();
    const std::span<uint8_t> both(secrets[0].data(), sizeof secrets);
    for (const auto& [direction, key] : {std::pair(accepts, &from_acceptor), {connects, &from_connector}}) {
        HandshakeTranscript context = transcript_;
        context.direction = direction;
        *key = derive_key(both, KeyPurpose::control_records, message_bytes(context));
    }
    wipe(both);
    return valid;
}

bool Handshake::collect(std::string_view bytes) {
    if (state_ != HandshakeState::in_progress || bytes.size() > bytes_needed()) {
        state_ = HandshakeState::rejected;
        return false;
    }
    in_.append(bytes);
    return in_.size() == message_bytes_;
}

template <class Message>
Message Handshake::message() {
    Message m;
    std::memcpy(&m, in_.data(), sizeof m);
    in_.clear();
    return m;
}

HandshakeAcceptor::HandshakeAcceptor(const JobKey& key, const Nonce& nonce, Exchange exchange)
    : Handshake(key, std::move(exchange), sizeof(HandshakeResponse)) {
    transcript_.acceptor = nonce;
    transcript_.acceptor_key = exchange_->public_key();
    out_ = bytes_of(HandshakeChallenge{magic, nonce, exchange_->public_key()});
}

HandshakeState HandshakeAcceptor::feed(std::string_view bytes) {
    if (!collect(bytes)) return state_;
    const auto claim = message<HandshakeResponse>();
    transcript_.role = claim.role;
    transcript_.node = claim.node;
    transcript_.connector = claim.nonce;
    transcript_.connector_key = claim.exchange;
    if (!same_digest(mac_with(connects), claim.mac)) return reject();
    // From here on the peer is authenticated; a wrong magic is an error, not an attack.
    if (claim.magic != magic || claim.role != static_cast<uint32_t>(Role::daemon)) return reject();
    if (!derive_keys(claim.exchange, record_keys_.sending, record_keys_.receiving)) return reject();
    out_ = bytes_of(HandshakeConfirm{mac_with(accepts)});
    message_bytes_ = 0;
    return state_ = HandshakeState::authenticated;
}

HandshakeConnector::HandshakeConnector(const JobKey& key, const Nonce& nonce, Exchange exchange,
                                       uint32_t node)
    : Handshake(key, std::move(exchange), sizeof(HandshakeChallenge)) {
    transcript_.role = static_cast<uint32_t>(Role::daemon);
    transcript_.node = node;
    transcript_.connector = nonce;
    transcript_.connector_key = exchange_->public_key();
}

HandshakeState HandshakeConnector::feed(std::string_view bytes) {
    if (!collect(bytes)) return state_;
    if (responded_) {
        message_bytes_ = 0;
        if (!same_digest(message<HandshakeConfirm>().mac, mac_with(accepts)) ||
            !derive_keys(transcript_.acceptor_key, record_keys_.receiving, record_keys_.sending))
            return reject();
        return state_ = HandshakeState::authenticated;
    }
    const auto opening = message<HandshakeChallenge>();
    if (opening.magic != magic) return reject();
    transcript_.acceptor = opening.nonce;
    transcript_.acceptor_key = opening.exchange;
    responded_ = true;
    message_bytes_ = sizeof(HandshakeConfirm);
    out_ = bytes_of(HandshakeResponse{magic, transcript_.role, transcript_.node, transcript_.connector,
                                      transcript_.connector_key, mac_with(connects)});
    return state_;
}

} // namespace zipmpi::launch
