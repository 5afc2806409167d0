// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Order of the messages of one peer. They are numbered, because a network library may report one before
// others that were sent earlier (UCX: over several lanes; libfabric: long ones take more steps). A message
// that overtakes others is held back. Held is what an engine keeps of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace zipmpi::transport {

template <class Held>
class MessageOrder {
  public:
    enum class Turn {
        now,   // it counts as delivered
        later, // it must be held
        never  // it was delivered or is held already, or is far ahead: the peer is not honest
    };

    // The number of the next message to the peer.
    uint32_t new_number() { return ++sent_; }

    // The peer's message of this number has arrived.
    Turn arrived(uint32_t number) {
        if (number == delivered_ + 1) [[likely]] {
            delivered_ = number;
            return Turn::now;
        }
        const uint32_t ahead = number - delivered_ - 1; // of those already delivered: a large number
        return ahead < max_ahead && !held_.contains(number) ? Turn::later : Turn::never;
    }
    void hold(uint32_t number, Held message) { held_.emplace(number, std::move(message)); }
    // The held message that follows those delivered; it then counts as delivered.
    std::optional<Held> take_next() {
        if (held_.empty()) [[likely]]
            return std::nullopt;
        const auto next = held_.find(delivered_ + 1);
        if (next == held_.end()) return std::nullopt;
        std::optional<Held> message(std::move(next->second));
        held_.erase(next);
        ++delivered_;
        return message;
    }

  private:
    static constexpr uint32_t max_ahead = 65536; // far more than messages overtake each other by

    uint32_t sent_ = 0; // so far
    uint32_t delivered_ = 0;
    std::map<uint32_t, Held> held_; // by number
};

} // namespace zipmpi::transport
