// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the message queues of a stopped process through the callbacks of a debugger. The process may have
// been stopped anywhere, or its memory may be corrupt: lists are bounded, and what cannot be read ends them.
#pragma once

#include "interface.h"
#include "wire/queue_layout.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace zipmpi::msgq {

class ProcessQueues {
  public:
    using Fetch = std::function<bool(uint64_t address, size_t bytes, void* to)>;

    // layout: address of zipmpi_message_queues.
    ProcessQueues(Fetch fetch, uint64_t layout)
        : fetch_(std::move(fetch))
        , layout_at_(layout) {}

    // Reads the layout. False: MPI is not initialized, or the library is of another version.
    bool read_layout();
    [[nodiscard]] bool is_initialized() const { return layout_.posted != 0; }

    void read_communicators();
    [[nodiscard]] size_t communicators() const { return comms_.size(); }
    [[nodiscard]] mqs_communicator communicator(size_t i) const { return comms_[i].shown; }
    // World ranks of the members. False: not readable.
    bool read_group(size_t i, int* world_ranks) const;
    [[nodiscard]] std::vector<mqs_pending_operation> operations(size_t i, mqs_op_class wanted) const;

  private:
    struct Comm {
        mqs_communicator shown;
        uint32_t context;
        int32_t first, stride;
        uint64_t table; // 0: none
    };
    using Bytes = std::vector<std::byte>;

    template <class T>
    static T value_at(const Bytes& bytes, size_t offset);
    bool read_bytes(uint64_t address, size_t size, Bytes& to) const;
    // The array between the two pointers at this address.
    bool read_array(uint64_t at, Bytes& to) const;
    void add_communicator(const Bytes& bytes);
    [[nodiscard]] int world_rank(const Comm& comm, int rank) const;
    [[nodiscard]] bool is_of(const Comm& comm, uint32_t context) const;

    enum class Chained { no, yes }; // whether a first receive points to that of another queue
    void read_posted(const Comm& comm, uint64_t heads, Chained chained,
                     std::multimap<uint64_t, mqs_pending_operation>& by_order) const;
    [[nodiscard]] std::vector<mqs_pending_operation> posted_receives(const Comm& comm) const;
    [[nodiscard]] std::vector<mqs_pending_operation> in_flight(const Comm& comm, uint8_t kind) const;
    [[nodiscard]] std::vector<mqs_pending_operation> unexpected(const Comm& comm) const;
    [[nodiscard]] mqs_pending_operation describe_receive(const Comm& comm, const Bytes& bytes) const;

    Fetch fetch_;
    uint64_t layout_at_;
    wire::QueueLayout layout_{};
    std::vector<Comm> comms_;
};

} // namespace zipmpi::msgq
