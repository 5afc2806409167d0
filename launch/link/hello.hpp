// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The hello that begins every TCP connection between daemons: both sides prove that they know the job's key
// before anything else is read. Three messages of fixed size:
//
//   acceptor  -> connector   Opening: magic, nonce A
//   connector -> acceptor    Claim:   magic, role, node, nonce C, HMAC-SHA-256(key, "connect" role node A C)
//   acceptor  -> connector   Reply:   HMAC-SHA-256(key, "accept." role node A C)
//
// A stranger gets a nonce and nothing else. The machines below know no descriptors, so a fuzzer can drive
// them; they never ask for more bytes than the next message has, so what follows the hello is not touched.
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
using Proof = std::array<uint8_t, 32>;

enum class Role : uint32_t { daemon = 1 };

struct HelloOpening {
    std::array<char, 8> magic;
    Nonce nonce;
};
struct HelloClaim {
    std::array<char, 8> magic;
    uint32_t role;
    uint32_t node;
    Nonce nonce;
    Proof proof;
};
struct HelloReply {
    Proof proof;
};
static_assert(sizeof(HelloOpening) == 40 && sizeof(HelloClaim) == 80 && sizeof(HelloReply) == 32);

enum class HelloState { going_on, proven, refused };

// Common to both sides: bytes in, bytes out.
class Hello {
  public:
    [[nodiscard]] size_t wanted() const { return wanted_ - in_.size(); } // bytes to read next, at most
    std::string take_output() { return std::exchange(out_, {}); }
    [[nodiscard]] HelloState state() const { return state_; }

  protected:
    Hello(const JobKey& key, size_t first_message)
        : key_(key)
        , wanted_(first_message) {}
    bool collect(std::string_view bytes); // true: a whole message is in in_
    template <class Message>
    Message message();
    HelloState refuse() { return state_ = HelloState::refused; }
    JobKey key_;
    size_t wanted_;
    std::string in_, out_;
    HelloState state_ = HelloState::going_on;
};

class HelloAcceptor : public Hello {
  public:
    HelloAcceptor(const JobKey& key, const Nonce& nonce); // take_output() has the opening
    HelloState feed(std::string_view bytes);              // proven: take_output() has the reply
    [[nodiscard]] uint32_t node() const { return node_; } // once proven

  private:
    Nonce nonce_;
    uint32_t node_ = 0;
};

class HelloConnector : public Hello {
  public:
    HelloConnector(const JobKey& key, const Nonce& nonce, uint32_t node);
    HelloState feed(std::string_view bytes); // take_output() may have the claim

  private:
    HelloClaim claim_{};
    Proof expected_{};
    bool claimed_ = false;
};

} // namespace zipmpi::launch
