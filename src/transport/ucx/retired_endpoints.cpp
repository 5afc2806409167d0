// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/retired_endpoints.hpp"

#include "os/clock.hpp"

#include <algorithm>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t retired_close_ns = 10'000'000'000;
constexpr size_t max_retired = 64;

} // namespace

void RetiredEndpoints::close_now(ucp_ep_h endpoint) {
    ucp_request_param_t force{};
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    force.cb.send = [](void* request, ucs_status_t, void*) { ucp_request_free(request); };
    static_cast<void>(ucp_ep_close_nbx(endpoint, &force));
}

void RetiredEndpoints::close_later(ucp_ep_h endpoint) {
    endpoints_.push_back({endpoint, os::now_ns() + retired_close_ns});
}

void RetiredEndpoints::mark_failed(ucp_ep_h endpoint) {
    for (RetiredEndpoint& a : endpoints_)
        if (a.endpoint == endpoint) a.close_at_ns = 0;
}

void RetiredEndpoints::close_old() {
    const uint64_t now = os::now_ns();
    size_t too_many = endpoints_.size() - std::min(endpoints_.size(), max_retired);
    std::erase_if(endpoints_, [&](const RetiredEndpoint& a) {
        const bool over = a.close_at_ns < now || too_many > 0;
        if (!over) return false;
        too_many -= too_many > 0 ? 1 : 0;
        close_now(a.endpoint);
        return true;
    });
}

} // namespace zipmpi::transport::ucx
