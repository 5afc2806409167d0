// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages between the members of an agreement. They are separate from all other messages of the communicator
// and work on a revoked one: proto::survives_revocation().
#pragma once

#include "core/fault/agreement_members.hpp"
#include "proto/p2p/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace zipmpi::core {

// One set of messages at a time: begin, add, then launch.
class MemberMessages {
  public:
    MemberMessages(uint32_t context, const AgreementMembers& members)
        : context_(context)
        , members_(members) {}
    MemberMessages(const MemberMessages&) = delete;
    MemberMessages& operator=(const MemberMessages&) = delete;

    // number: equal on both sides. `done` runs when all messages are complete; it may destroy this object.
    void begin(uint32_t number, std::function<void()> done);
    void send_to(int position, const void* data, size_t bytes);
    void receive_from(int position, void* data, size_t bytes);
    void launch();

    // --- after completion
    [[nodiscard]] Err first_error() const;
    [[nodiscard]] std::vector<int> received_from() const; // positions of successful receives

    // A message in flight, for reports; null: none.
    [[nodiscard]] const proto::Operation* pending_operation() const;

  private:
    struct Message : proto::Operation {
        MemberMessages* owner = nullptr;
    };
    Message& add(int position, void* data, size_t bytes);
    void message_done();

    uint32_t context_;
    const AgreementMembers& members_;
    int tag_ = 0;
    std::deque<Message> messages_;
    std::function<void()> done_;
    int pending_ = 0; // messages in flight, plus one while messages are being added
};

} // namespace zipmpi::core
