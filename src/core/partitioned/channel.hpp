// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A partitioned send or receive. At initialization the sender sends the description of its channel with the
// user's tag on the communicator's context for descriptions, so channels match in initialization order,
// independent of the order of their starts. Each partition of the sender then travels as one message with its
// own tag on the context for partitions; the receiver posts one receive per message, whatever its own number
// of partitions.
//
// Threads: called with the progress engine lock held.
#pragma once

#include "core/p2p/p2p.hpp"

namespace zipmpi::core {

struct ChannelDescription { // wire format
    uint64_t bytes;
    int32_t partitions;
    int32_t first_tag;
};
static_assert(sizeof(ChannelDescription) == 16);

class PartitionedChannel : public CompoundRequest {
  public:
    PartitionedChannel(Request& whole, void* buffer, int partitions, uint64_t partition_bytes);
    // Sends or receives the description.
    void open();
    void start() override;
    // Sender only.
    Err ready(int partition);
    [[nodiscard]] int partitions() const { return partitions_; }
    // Receiver only: true if all bytes of one of its partitions have arrived.
    [[nodiscard]] bool arrived(int partition) const;

    [[nodiscard]] const proto::Operation* pending_operation() const override;
    [[nodiscard]] bool defer_destroy() override;

  private:
    [[nodiscard]] bool sends() const { return request_.kind == proto::Operation::Kind::send; }
    [[nodiscard]] uint64_t total_bytes() const {
        return partition_bytes_ * static_cast<uint64_t>(partitions_);
    }
    [[nodiscard]] proto::Operation make_message(int index) const;
    void apply_description();
    Err check_description() const;
    void post_receives();
    void complete_failed();
    void message_done(const proto::Operation& op);
    static void on_description(proto::Operation& op);
    static void on_message(proto::Operation& op);

    Request& request_;
    std::byte* buffer_;
    int partitions_; // of this side
    uint64_t partition_bytes_;
    SubOperation setup_;
    ChannelDescription description_{}; // of the sender
    uint64_t message_bytes_ = 0;
    int messages_ = 0; // 0 until the description has arrived
    int pending_ = 0;  // incomplete messages of a started request
    Err error_ = Err::success;
    std::unique_ptr<SubOperation[]> operations_;
};

} // namespace zipmpi::core
