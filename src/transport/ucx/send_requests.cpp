// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/send_requests.hpp"

#include <utility>

namespace zipmpi::transport::ucx {

void SendRequests::add() {
    SendRequest& s = requests_.emplace_back();
    s.owner = this;
    s.next_free = nullptr;
    free_ = &s;
}

SendRequest& SendRequests::acquire_batch() {
    SendRequest& s = acquire();
    s.staging.packed = staging_.acquire(batch_bytes);
    s.used = 0;
    ++batches_;
    return s;
}

ucs_status_t SendRequests::send(SendRequest& s, ucp_ep_h endpoint, unsigned id,
                                std::span<const std::byte> bytes) {
    const ucp_request_param_t param = params(s, UCP_AM_SEND_FLAG_EAGER);
    void* const request = endpoint == nullptr
                              ? UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET)
                              : ucp_am_send_nbx(endpoint, id, nullptr, 0, bytes.data(), bytes.size(), &param);
    if (!UCS_PTR_IS_PTR(request)) release(s);
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
}

void SendRequests::on_sent(void* request, ucs_status_t status, void* user_data) {
    auto& s = *static_cast<SendRequest*>(user_data);
    SendRequests& self = *s.owner;
    NetworkOperation* const operation = s.data.operation;
    FrameTicket* const ticket = s.ticket;
    ++self.counters_.events;
    ucp_request_free(request);
    self.release(s);
    if (ticket != nullptr) self.frames_->frame_sent(ticket);
    if (operation != nullptr)
        self.listener_.send_finished(operation, status == UCS_OK ? OpStatus::done : OpStatus::failed);
}

} // namespace zipmpi::transport::ucx
