// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The handshake of every TCP connection between daemons, and between gateways: both sides prove knowledge of
// a key of the job before any other byte is read. Three messages of fixed size:
//
//   acceptor  -> connector   Challenge: magic, nonce A, X25519 key PA
//   connector -> acceptor    Response:  magic, role, node, nonce C, X25519 key PC,
//                                       HMAC-SHA-256(key, "connect" role node A C PA PC)
//   acceptor  -> connector   Confirm:   HMAC-SHA-256(key, "accept." role node A C PA PC)
//
// The keys of the records that follow come from the X25519 secret, the key and all of the above: who learns
// the key later cannot read a recorded connection. An unauthenticated connection gets a nonce, a public key
// and nothing else. The state machines below have no descriptors,
// so a fuzzer can drive them; they never consume bytes beyond the next message.
#pragma once

#include "base/record_channel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace zipmpi::launch {

using JobKey = KeyBytes;
using Nonce = std::array<uint8_t, 32>;
using Mac = std::array<uint8_t, 32>;

enum class Role : uint32_t { daemon = 1 };

struct HandshakeChallenge {
    std::array<char, 8> magic;
    Nonce nonce;
    PublicKey exchange;
};
struct HandshakeResponse {
    std::array<char, 8> magic;
    uint32_t role;
    uint32_t node;
    Nonce nonce;
    PublicKey exchange;
    Mac mac;
};
struct HandshakeConfirm {
    Mac mac;
};
static_assert(sizeof(HandshakeChallenge) == 72 && sizeof(HandshakeResponse) == 112 &&
              sizeof(HandshakeConfirm) == 32);

enum class HandshakeState { in_progress, authenticated, rejected };

// What the authentication codes cover. Fixed size, so that no two messages have the same bytes.
struct HandshakeTranscript {
    std::array<char, 8> direction;
    uint32_t role;
    uint32_t node;
    Nonce acceptor, connector;
    PublicKey acceptor_key, connector_key;
};
static_assert(sizeof(HandshakeTranscript) == 144);

// Base of both sides: bytes in, bytes out.
class Handshake {
  public:
    using Exchange = std::unique_ptr<KeyExchange>; // not null

    [[nodiscard]] size_t bytes_needed() const {
        return message_bytes_ - in_.size();
    } // maximum number of bytes to read next
    std::string take_output() { return std::exchange(out_, {}); }
    [[nodiscard]] HandshakeState state() const { return state_; }
    // Keys of the records that follow; valid after authentication.
    [[nodiscard]] const RecordChannel::Keys& record_keys() const { return record_keys_; }

  protected:
    Handshake(const JobKey& key, Exchange exchange, size_t first_message)
        : key_(key)
        , exchange_(std::move(exchange))
        , message_bytes_(first_message) {}
    bool collect(std::string_view bytes); // returns true when in_ has a whole message
    template <class Message>
    Message message();
    HandshakeState reject() { return state_ = HandshakeState::rejected; }
    Handshake(Handshake&&) = default;
    Handshake& operator=(Handshake&&) = default;
    ~Handshake();
    [[nodiscard]] Mac mac_with(std::array<char, 8> direction) const;
    // Returns false if the peer's public key is not valid.
    bool derive_keys(const PublicKey& peer, KeyBytes& from_acceptor, KeyBytes& from_connector);
    JobKey key_;
    Exchange exchange_;
    HandshakeTranscript transcript_{};
    RecordChannel::Keys record_keys_{};
    size_t message_bytes_;
    std::string in_, out_;
    HandshakeState state_ = HandshakeState::in_progress;
};

class HandshakeAcceptor : public Handshake {
  public:
    HandshakeAcceptor(const JobKey& key, const Nonce& nonce,
                      Exchange exchange); // take_output() returns the challenge
    HandshakeState
    feed(std::string_view bytes); // after authentication take_output() returns the confirmation
    [[nodiscard]] uint32_t node() const { return transcript_.node; } // valid after authentication
};

class HandshakeConnector : public Handshake {
  public:
    HandshakeConnector(const JobKey& key, const Nonce& nonce, Exchange exchange, uint32_t node);
    HandshakeState feed(std::string_view bytes); // take_output() may return the response

  private:
    bool responded_ = false;
};

} // namespace zipmpi::launch
