// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The handshake of every TCP connection between daemons: both sides prove knowledge of the job's key before
// any other byte is read. Three messages of fixed size:
//
//   acceptor  -> connector   Challenge: magic, nonce A
//   connector -> acceptor    Response:  magic, role, node, nonce C,
//                                       HMAC-SHA-256(key, "connect" role node A C)
//   acceptor  -> connector   Confirm:   HMAC-SHA-256(key, "accept." role node A C)
//
// An unauthenticated connection gets a nonce and nothing else. The state machines below have no descriptors,
// so a fuzzer can drive them; they never consume bytes beyond the next message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace zipmpi::launch {

using JobKey = std::array<uint8_t, 32>;
using Nonce = std::array<uint8_t, 32>;
using Mac = std::array<uint8_t, 32>;

enum class Role : uint32_t { daemon = 1 };

struct HandshakeChallenge {
    std::array<char, 8> magic;
    Nonce nonce;
};
struct HandshakeResponse {
    std::array<char, 8> magic;
    uint32_t role;
    uint32_t node;
    Nonce nonce;
    Mac mac;
};
struct HandshakeConfirm {
    Mac mac;
};
static_assert(sizeof(HandshakeChallenge) == 40 && sizeof(HandshakeResponse) == 80 &&
              sizeof(HandshakeConfirm) == 32);

enum class HandshakeState { in_progress, authenticated, rejected };

// Base of both sides: bytes in, bytes out.
class Handshake {
  public:
    [[nodiscard]] size_t bytes_needed() const {
        return message_bytes_ - in_.size();
    } // maximum number of bytes to read next
    std::string take_output() { return std::exchange(out_, {}); }
    [[nodiscard]] HandshakeState state() const { return state_; }

  protected:
    Handshake(const JobKey& key, size_t first_message)
        : key_(key)
        , message_bytes_(first_message) {}
    bool collect(std::string_view bytes); // returns true when in_ has a whole message
    template <class Message>
    Message message();
    HandshakeState reject() { return state_ = HandshakeState::rejected; }
    JobKey key_;
    size_t message_bytes_;
    std::string in_, out_;
    HandshakeState state_ = HandshakeState::in_progress;
};

class HandshakeAcceptor : public Handshake {
  public:
    HandshakeAcceptor(const JobKey& key, const Nonce& nonce); // take_output() returns the challenge
    HandshakeState
    feed(std::string_view bytes); // after authentication take_output() returns the confirmation
    [[nodiscard]] uint32_t node() const { return node_; } // valid after authentication

  private:
    Nonce nonce_;
    uint32_t node_ = 0;
};

class HandshakeConnector : public Handshake {
  public:
    HandshakeConnector(const JobKey& key, const Nonce& nonce, uint32_t node);
    HandshakeState feed(std::string_view bytes); // take_output() may return the response

  private:
    HandshakeResponse response_{};
    Mac expected_{};
    bool responded_ = false;
};

} // namespace zipmpi::launch
