// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Endpoints no longer in use. UCX 1.13 aborts if an endpoint is closed while it connects; such endpoints are
// closed later.
#pragma once

#include <cstdint>
#include <ucp/api/ucp.h>
#include <vector>

namespace zipmpi::transport::ucx {

class RetiredEndpoints {
  public:
    static void close_now(ucp_ep_h endpoint);
    void close_later(ucp_ep_h endpoint);
    void mark_failed(ucp_ep_h endpoint); // it may be closed
    void close_due() {
        if (!endpoints_.empty()) close_old();
    }

  private:
    struct RetiredEndpoint {
        ucp_ep_h endpoint;
        uint64_t close_at_ns;
    };
    void close_old();

    std::vector<RetiredEndpoint> endpoints_; // the oldest come first
};

} // namespace zipmpi::transport::ucx
