// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Active messages that UCX has not completed, with the memory that it reads until then.
#pragma once

#include "transport/frame_network.hpp"
#include "transport/poll_counters.hpp"
#include "transport/ucx/buffer_staging.hpp"
#include "transport/ucx/ucx_worker.hpp"
#include "wire/frame_layout.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace zipmpi::transport::ucx {

class SendRequests;

// A message, batch, frame or handshake.
struct SendRequest {
    SendRequests* owner;
    std::byte
        header[std::max(wire::net_header_max, sizeof(uint64_t) + wire::frame_head_max + wire::frame_small)];
    BufferRef data;
    IovStaging staging;
    std::string handshake;
    size_t used = 0;                            // of a batch: bytes
    std::vector<NetworkOperation*> batched_ops; // operations whose messages are in the batch
    FrameTicket* ticket;                        // of a frame
    SendRequest* next_free;
};

class SendRequests {
  public:
    static constexpr size_t batch_bytes = 16U << 10;

    // frames: may be null.
    SendRequests(UcxWorker& worker, BufferStaging& staging, NetworkListener& listener, FrameListener* frames,
                 PollCounters& counters)
        : worker_(worker)
        , staging_(staging)
        , listener_(listener)
        , frames_(frames)
        , counters_(counters) {}
    SendRequests(const SendRequests&) = delete;
    SendRequests& operator=(const SendRequests&) = delete;

    SendRequest& acquire();
    SendRequest& acquire_batch(); // with batch_bytes of packed bytes
    void release(SendRequest& request);
    // Parameters of a UCX operation whose memory stays in the request until UCX completes it.
    static ucp_request_param_t params(SendRequest& request, uint32_t flags);
    // Sends bytes of the request, which is released, now or later. A null endpoint counts as reset.
    ucs_status_t send(SendRequest& request, ucp_ep_h endpoint, unsigned id, std::span<const std::byte> bytes);

    [[nodiscard]] size_t batches() const { return batches_; } // open, or not completed by UCX
    [[nodiscard]] bool idle() const { return in_flight_ == 0; }

  private:
    void add(); // to the free requests
    static void on_sent(void* request, ucs_status_t status, void* user_data);

    UcxWorker& worker_;
    BufferStaging& staging_;
    NetworkListener& listener_;
    FrameListener* frames_;
    PollCounters& counters_;
    std::deque<SendRequest> requests_;
    SendRequest* free_ = nullptr;
    uint64_t in_flight_ = 0;
    size_t batches_ = 0;
};

// The path of every message.
inline SendRequest& SendRequests::acquire() {
    if (free_ == nullptr) add();
    SendRequest& s = *free_;
    free_ = s.next_free;
    s.ticket = nullptr;
    worker_.require_arm();
    ++in_flight_;
    return s;
}

inline void SendRequests::release(SendRequest& s) {
    s.handshake.clear();
    if (std::exchange(s.used, 0) != 0) --batches_;
    staging_.release(std::move(s.staging.packed));
    s.data = {};
    s.next_free = free_;
    free_ = &s;
    --in_flight_;
}

inline ucp_request_param_t SendRequests::params(SendRequest& s, uint32_t flags) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    param.cb.send = on_sent;
    param.user_data = &s;
    return param;
}

} // namespace zipmpi::transport::ucx
