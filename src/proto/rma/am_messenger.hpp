// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends the active messages of a window (wire/rma_layout.hpp) on its own context: batches of requests and
// unnumbered messages with tag 0, replies to both with tag 1. Data is copied.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/team.hpp"
#include "wire/rma_layout.hpp"

#include <string_view>
#include <vector>

namespace zipmpi::proto::rma {

using Bytes = std::vector<std::byte>;

class AmMessenger {
  public:
    static constexpr int batch_tag = 0;
    static constexpr int reply_tag = 1;
    static constexpr int neighbor_tag = 2; // of fences of neighbors in windows without active messages

    explicit AmMessenger(const Team& team)
        : team_(team) {}

    // Fences that this rank has passed; sent along with each batch.
    [[nodiscard]] uint32_t epoch() const { return epoch_; }
    void next_epoch() { ++epoch_; }

    void send_batch(int target, Bytes batch) { send(target, batch_tag, std::move(batch)); }
    void send_batch_reply(int origin, Bytes reply) { send(origin, reply_tag, std::move(reply)); }
    // MPI_Win_post
    void send_post(int origin);
    void send_out_of_band(int target, wire::RmaKind kind);
    // Connections between RDMA devices; the texts describe endpoints.
    void request_connection(int target, std::string_view text);
    void answer_connection(int origin, std::string_view text);

  private:
    void send(int to, int tag, Bytes message);

    const Team& team_;
    uint32_t epoch_ = 0;
};

} // namespace zipmpi::proto::rma
