// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on memory of others. Each is cut into parts that the device takes; what it does not take now
// waits in the queue of its end.
#include "transport/ucx/direct_engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::transport::ucx {
namespace {

constexpr size_t copied_most = 32768; // longer memory is shown to the device instead of being copied

struct Copy {
    const std::byte* from;
    size_t bytes;
};

size_t pack(void* to, void* copy) {
    const Copy& c = *static_cast<const Copy*>(copy);
    std::memcpy(to, c.from, c.bytes);
    return c.bytes;
}

void unpack(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

} // namespace

void DirectEngine::add(int end, Operation operation) {
    End& e = ends_[static_cast<size_t>(end)];
    Operation& o = e.operations.emplace_back(operation);
    o.end = &e;
    o.completion = {on_part_done, 1, UCS_OK};
    e.waiting.push_back(&o);
    go_on(e);
}

void DirectEngine::put(int end, const void* here, size_t bytes, const There& there) {
    // The device does not write to it.
    auto* const from = static_cast<std::byte*>(const_cast<void*>(here));
    if (bytes != 0) add(end, {{}, nullptr, Kind::put, from, bytes, 0, there, 0, 0, nullptr, nullptr, false});
}

void DirectEngine::get(int end, void* here, size_t bytes, const There& there) {
    auto* const to = static_cast<std::byte*>(here);
    if (bytes != 0) add(end, {{}, nullptr, Kind::get, to, bytes, 0, there, 0, 0, nullptr, nullptr, false});
}

void DirectEngine::fetch_add(int end, uint64_t value, uint64_t* before, const There& there) {
    add(end, {{}, nullptr, Kind::add, nullptr, 8, 0, there, value, 0, before, nullptr, false});
}

// Not all devices have it: what is there is guessed, and known from the first answer on.
void DirectEngine::swap(int end, uint64_t value, uint64_t* before, const There& there) {
    add(end, {{}, nullptr, Kind::swap, nullptr, 8, 0, there, value, 0, before, nullptr, false});
}

void DirectEngine::compare_swap(int end, uint64_t compare, uint64_t value, uint64_t* before,
                                const There& there) {
    add(end, {{}, nullptr, Kind::compare_swap, nullptr, 8, 0, there, value, compare, before, nullptr, false});
}

void DirectEngine::register_memory(Operation& o) {
    if (o.registered != nullptr || o.bytes <= copied_most) return;
    if (uct_md_mem_reg(domain_.get(), o.here, o.bytes, UCT_MD_MEM_ACCESS_RMA, &o.registered) != UCS_OK)
        o.registered = nullptr; // copied, then
}

ucs_status_t DirectEngine::make_put(Operation& o) {
    register_memory(o);
    const uint64_t to = o.there.address + o.made;
    std::byte* const from = o.here + o.made;
    size_t bytes = o.bytes - o.made;
    ucs_status_t status = UCS_OK;
    if (o.registered != nullptr && bytes > facts_.cap.put.max_short) {
        bytes = std::min(bytes, facts_.cap.put.max_zcopy);
        const uct_iov_t one{from, bytes, o.registered, 0, 1};
        status = uct_ep_put_zcopy(o.end->endpoint, &one, 1, to, o.there.key, &o.completion);
    } else if (bytes <= facts_.cap.put.max_short) {
        status = uct_ep_put_short(o.end->endpoint, from, static_cast<unsigned>(bytes), to, o.there.key);
    } else {
        Copy copy{from, std::min(bytes, facts_.cap.put.max_bcopy)};
        bytes = copy.bytes;
        const ssize_t packed = uct_ep_put_bcopy(o.end->endpoint, pack, &copy, to, o.there.key);
        status = packed < 0 ? static_cast<ucs_status_t>(packed) : UCS_OK;
    }
    if (!UCS_STATUS_IS_ERR(status)) o.made += bytes;
    return status;
}

ucs_status_t DirectEngine::make_get(Operation& o) {
    register_memory(o);
    const uint64_t from = o.there.address + o.made;
    std::byte* const to = o.here + o.made;
    size_t bytes = o.bytes - o.made;
    ucs_status_t status = UCS_OK;
    if (o.registered != nullptr && bytes > facts_.cap.get.max_bcopy) {
        bytes = std::min(bytes, facts_.cap.get.max_zcopy);
        const uct_iov_t one{to, bytes, o.registered, 0, 1};
        status = uct_ep_get_zcopy(o.end->endpoint, &one, 1, from, o.there.key, &o.completion);
    } else {
        bytes = std::min(bytes, facts_.cap.get.max_bcopy);
        status = uct_ep_get_bcopy(o.end->endpoint, unpack, to, bytes, from, o.there.key, &o.completion);
    }
    if (!UCS_STATUS_IS_ERR(status)) o.made += bytes;
    return status;
}

ucs_status_t DirectEngine::make_part(Operation& o) {
    if (o.kind == Kind::put) return make_put(o);
    if (o.kind == Kind::get) return make_get(o);
    uct_ep_h const endpoint = o.end->endpoint;
    const ucs_status_t status = o.kind == Kind::add
                                    ? uct_ep_atomic64_fetch(endpoint, UCT_ATOMIC_OP_ADD, o.value, o.before,
                                                            o.there.address, o.there.key, &o.completion)
                                    : uct_ep_atomic_cswap64(endpoint, o.compare, o.value, o.there.address,
                                                            o.there.key, o.before, &o.completion);
    if (!UCS_STATUS_IS_ERR(status)) o.made = o.bytes;
    return status;
}

// Gives the device what it takes.
void DirectEngine::go_on(End& end) {
    while (!end.waiting.empty()) {
        Operation& o = *end.waiting.front();
        while (o.made < o.bytes && !end.failed) {
            ++o.completion.count; // before: it may be done at once
            const ucs_status_t status = make_part(o);
            if (status != UCS_INPROGRESS) --o.completion.count;
            if (status == UCS_ERR_NO_RESOURCE) return;
            end.unflushed = true;
            if (UCS_STATUS_IS_ERR(status)) end.failed = true;
        }
        end.waiting.pop_front();
        if (--o.completion.count == 0) o.over = true;
    }
}

void DirectEngine::on_part_done(uct_completion_t* completion) {
    // The first member.
    auto& o = *reinterpret_cast<Operation*>(completion);
    if (completion->status != UCS_OK) o.end->failed = true;
    o.over = true;
}

void DirectEngine::progress() {
    uct_worker_progress(worker_.get());
    for (End& end : ends_) {
        // Operations are looked at here, not where UCX tells of them: a swap may have to be asked for again.
        for (auto o = end.operations.begin(); o != end.operations.end();) {
            if (!o->over) {
                ++o;
                continue;
            }
            if (o->kind == Kind::swap && *o->before != o->compare && !end.failed) {
                o->compare = *o->before;
                o->made = 0;
                o->over = false;
                o->completion = {on_part_done, 1, UCS_OK};
                end.waiting.push_back(&*o++);
                continue;
            }
            if (o->registered != nullptr) uct_md_mem_dereg(domain_.get(), o->registered);
            o = end.operations.erase(o);
        }
        go_on(end);
    }
}

void DirectEngine::on_flushed(uct_completion_t* completion) {
    End& end = *reinterpret_cast<Flush*>(completion)->end; // the first member
    if (completion->status != UCS_OK) end.failed = true;
    end.flushing = false;
}

bool DirectEngine::settled(int number) {
    End& end = ends_[static_cast<size_t>(number)];
    if (!end.operations.empty() || end.flushing) return false;
    if (!end.unflushed || end.failed) return true;
    end.flush = {{on_flushed, 1, UCS_OK}, &end};
    const ucs_status_t status = uct_ep_flush(end.endpoint, 0, &end.flush.completion);
    if (status == UCS_ERR_NO_RESOURCE) return false;
    end.unflushed = false;
    end.flushing = status == UCS_INPROGRESS;
    if (UCS_STATUS_IS_ERR(status)) end.failed = true;
    return !end.flushing;
}

ucs_status_t DirectEngine::on_error(void* self, uct_ep_h endpoint, ucs_status_t) {
    for (End& end : static_cast<DirectEngine*>(self)->ends_)
        if (end.endpoint == endpoint) end.failed = true;
    return UCS_OK;
}

} // namespace zipmpi::transport::ucx
