// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on remote memory. Each is split into fragments that the device accepts; those it does not accept
// now stay in the queue of the endpoint.
#include "transport/ucx/uct_device.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::transport::ucx {
namespace {

constexpr size_t max_copied = 32768; // longer memory is registered instead of copied

struct CopySource {
    const std::byte* from;
    size_t bytes;
};

size_t pack(void* to, void* copy) {
    const CopySource& c = *static_cast<const CopySource*>(copy);
    std::memcpy(to, c.from, c.bytes);
    return c.bytes;
}

void unpack(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

} // namespace

void UctDevice::add(int endpoint, UctOp operation) {
    UctEndpoint& e = endpoints_[static_cast<size_t>(endpoint)];
    UctOp& o = e.operations.emplace_back(operation);
    o.endpoint = &e;
    o.completion = {on_part_done, 1, UCS_OK};
    e.queued.push_back(&o);
    issue_queued(e);
}

void UctDevice::put(int endpoint, const void* here, size_t bytes, const RemoteAddress& there) {
    // The device only reads it.
    auto* const from = static_cast<std::byte*>(const_cast<void*>(here));
    if (bytes != 0)
        add(endpoint, {{}, nullptr, Kind::put, from, bytes, 0, there, 0, 0, nullptr, nullptr, false});
}

void UctDevice::get(int endpoint, void* here, size_t bytes, const RemoteAddress& there) {
    auto* const to = static_cast<std::byte*>(here);
    if (bytes != 0)
        add(endpoint, {{}, nullptr, Kind::get, to, bytes, 0, there, 0, 0, nullptr, nullptr, false});
}

void UctDevice::fetch_add(int endpoint, uint64_t value, uint64_t* before, const RemoteAddress& there) {
    add(endpoint, {{}, nullptr, Kind::add, nullptr, 8, 0, there, value, 0, before, nullptr, false});
}

// Not all devices have a swap: emulated by compare-and-swap with a guessed value, retried with the value of
// the latest reply until it matches.
void UctDevice::swap(int endpoint, uint64_t value, uint64_t* before, const RemoteAddress& there) {
    add(endpoint, {{}, nullptr, Kind::swap, nullptr, 8, 0, there, value, 0, before, nullptr, false});
}

void UctDevice::compare_swap(int endpoint, uint64_t compare, uint64_t value, uint64_t* before,
                             const RemoteAddress& there) {
    add(endpoint,
        {{}, nullptr, Kind::compare_swap, nullptr, 8, 0, there, value, compare, before, nullptr, false});
}

void UctDevice::register_buffer(UctOp& o) {
    if (o.registered != nullptr || o.bytes <= max_copied) return;
    if (uct_md_mem_reg(port_.domain(), o.local, o.bytes, UCT_MD_MEM_ACCESS_RMA, &o.registered) != UCS_OK)
        o.registered = nullptr; // fall back to copying
}

ucs_status_t UctDevice::issue_put(UctOp& o) {
    register_buffer(o);
    const uint64_t to = o.remote.address + o.issued;
    std::byte* const from = o.local + o.issued;
    size_t bytes = o.bytes - o.issued;
    ucs_status_t status = UCS_OK;
    if (o.registered != nullptr && bytes > port_.interface_attr().cap.put.max_short) {
        bytes = std::min(bytes, port_.interface_attr().cap.put.max_zcopy);
        const uct_iov_t one{from, bytes, o.registered, 0, 1};
        status = uct_ep_put_zcopy(o.endpoint->ep, &one, 1, to, o.remote.key, &o.completion);
    } else if (bytes <= port_.interface_attr().cap.put.max_short) {
        status = uct_ep_put_short(o.endpoint->ep, from, static_cast<unsigned>(bytes), to, o.remote.key);
    } else {
        CopySource copy{from, std::min(bytes, port_.interface_attr().cap.put.max_bcopy)};
        bytes = copy.bytes;
        const ssize_t packed = uct_ep_put_bcopy(o.endpoint->ep, pack, &copy, to, o.remote.key);
        status = packed < 0 ? static_cast<ucs_status_t>(packed) : UCS_OK;
    }
    if (!UCS_STATUS_IS_ERR(status)) o.issued += bytes;
    return status;
}

ucs_status_t UctDevice::issue_get(UctOp& o) {
    register_buffer(o);
    const uint64_t from = o.remote.address + o.issued;
    std::byte* const to = o.local + o.issued;
    size_t bytes = o.bytes - o.issued;
    ucs_status_t status = UCS_OK;
    if (o.registered != nullptr && bytes > port_.interface_attr().cap.get.max_bcopy) {
        bytes = std::min(bytes, port_.interface_attr().cap.get.max_zcopy);
        const uct_iov_t one{to, bytes, o.registered, 0, 1};
        status = uct_ep_get_zcopy(o.endpoint->ep, &one, 1, from, o.remote.key, &o.completion);
    } else {
        bytes = std::min(bytes, port_.interface_attr().cap.get.max_bcopy);
        status = uct_ep_get_bcopy(o.endpoint->ep, unpack, to, bytes, from, o.remote.key, &o.completion);
    }
    if (!UCS_STATUS_IS_ERR(status)) o.issued += bytes;
    return status;
}

ucs_status_t UctDevice::issue_part(UctOp& o) {
    if (o.kind == Kind::put) return issue_put(o);
    if (o.kind == Kind::get) return issue_get(o);
    uct_ep_h const endpoint = o.endpoint->ep;
    const ucs_status_t status = o.kind == Kind::add
                                    ? uct_ep_atomic64_fetch(endpoint, UCT_ATOMIC_OP_ADD, o.value, o.previous,
                                                            o.remote.address, o.remote.key, &o.completion)
                                    : uct_ep_atomic_cswap64(endpoint, o.compare, o.value, o.remote.address,
                                                            o.remote.key, o.previous, &o.completion);
    if (!UCS_STATUS_IS_ERR(status)) o.issued = o.bytes;
    return status;
}

// Issues operations until the device has no resources left.
void UctDevice::issue_queued(UctEndpoint& endpoint) {
    while (!endpoint.queued.empty()) {
        UctOp& o = *endpoint.queued.front();
        while (o.issued < o.bytes && !endpoint.failed) {
            ++o.completion.count; // before issuing: it may complete immediately
            const ucs_status_t status = issue_part(o);
            if (status != UCS_INPROGRESS) --o.completion.count;
            if (status == UCS_ERR_NO_RESOURCE) return;
            endpoint.unflushed = true;
            if (UCS_STATUS_IS_ERR(status)) endpoint.failed = true;
        }
        endpoint.queued.pop_front();
        if (--o.completion.count == 0) o.complete = true;
    }
}

void UctDevice::on_part_done(uct_completion_t* completion) {
    // completion is the first member.
    auto& o = *reinterpret_cast<UctOp*>(completion);
    if (completion->status != UCS_OK) o.endpoint->failed = true;
    o.complete = true;
}

void UctDevice::progress() {
    uct_worker_progress(port_.worker());
    for (UctEndpoint& endpoint : endpoints_) {
        // Completions are handled here, not in UCX's callback, because a swap may have to be reissued.
        for (auto o = endpoint.operations.begin(); o != endpoint.operations.end();) {
            if (!o->complete) {
                ++o;
                continue;
            }
            if (o->kind == Kind::swap && *o->previous != o->compare && !endpoint.failed) {
                o->compare = *o->previous;
                o->issued = 0;
                o->complete = false;
                o->completion = {on_part_done, 1, UCS_OK};
                endpoint.queued.push_back(&*o++);
                continue;
            }
            if (o->registered != nullptr) uct_md_mem_dereg(port_.domain(), o->registered);
            o = endpoint.operations.erase(o);
        }
        issue_queued(endpoint);
    }
}

void UctDevice::on_flushed(uct_completion_t* completion) {
    // Completion is the first member.
    UctEndpoint& endpoint = *reinterpret_cast<UctFlush*>(completion)->endpoint;
    if (completion->status != UCS_OK) endpoint.failed = true;
    endpoint.flushing = false;
}

bool UctDevice::flushed(int number) {
    UctEndpoint& endpoint = endpoints_[static_cast<size_t>(number)];
    if (!endpoint.operations.empty() || endpoint.flushing) return false;
    if (!endpoint.unflushed || endpoint.failed) return true;
    endpoint.flush = {{on_flushed, 1, UCS_OK}, &endpoint};
    const ucs_status_t status = uct_ep_flush(endpoint.ep, 0, &endpoint.flush.completion);
    if (status == UCS_ERR_NO_RESOURCE) return false;
    endpoint.unflushed = false;
    endpoint.flushing = status == UCS_INPROGRESS;
    if (UCS_STATUS_IS_ERR(status)) endpoint.failed = true;
    return !endpoint.flushing;
}

ucs_status_t UctDevice::on_error(void* self, uct_ep_h endpoint, ucs_status_t) {
    for (UctEndpoint& ep : static_cast<UctDevice*>(self)->endpoints_)
        if (ep.ep == endpoint) ep.failed = true;
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
