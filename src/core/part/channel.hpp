// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A partitioned send or receive. The sender describes its channel to the receiver when it is made, with the
// user's tag, on the communicator's context for descriptions: so channels match in the order in which they
// were made, whatever the order of their starts. Each partition of the sender then travels as one message
// with a tag of its own on the context for partitions; the receiver posts one receive per message, whatever
// its own number of partitions.
//
// Threads: under the engine lock.
#pragma once

#include "core/p2p.hpp"

namespace zipmpi::core {

struct ChannelDescription { // travels as it is
    uint64_t bytes;
    int32_t partitions;
    int32_t first_tag;
};
static_assert(sizeof(ChannelDescription) == 16);

class Channel : public Compound {
  public:
    Channel(Request& whole, void* buffer, int partitions, uint64_t partition_bytes);
    // Sends or awaits the description.
    void open();
    void start() override;
    // For the sender.
    Err ready(int partition);
    [[nodiscard]] int partitions() const { return partitions_; }
    // For the receiver: whether all bytes of one of its own partitions are there.
    [[nodiscard]] bool arrived(int partition) const;

    [[nodiscard]] const proto::Operation* shown() const override;
    [[nodiscard]] bool destroys_later() override;

  private:
    [[nodiscard]] bool sends() const { return whole_.kind == proto::Operation::Kind::send; }
    [[nodiscard]] uint64_t total_bytes() const {
        return partition_bytes_ * static_cast<uint64_t>(partitions_);
    }
    [[nodiscard]] proto::Operation message(int index) const;
    void take_description();
    Err check_description() const;
    void post_receives();
    void complete_broken();
    void message_done(const proto::Operation& op);
    static void on_description(proto::Operation& op);
    static void on_message(proto::Operation& op);

    Request& whole_;
    std::byte* buffer_;
    int partitions_; // of this side
    uint64_t partition_bytes_;
    Part setup_;
    ChannelDescription description_{}; // of the sender
    uint64_t message_bytes_ = 0;
    int messages_ = 0; // 0 before the description is there
    int waiting_ = 0;  // messages not done, while started
    Err broken_ = Err::success;
    std::unique_ptr<Part[]> parts_;
};

} // namespace zipmpi::core
