// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/call_buffers.hpp"

#include "core/device/devices.hpp"
#include "core/p2p/p2p.hpp"
#include "core/win/access.hpp"

namespace zipmpi::core::device {
namespace {

// Null and the special addresses of the ABIs are below.
constexpr uintptr_t first_address = 4096;

Driver* driver_at(uintptr_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the buffer may be MPI_BOTTOM
    return address >= first_address ? driver_of(reinterpret_cast<const void*>(address)) : nullptr;
}

// A request with one operation and device buffers.
class DeviceOperation final : public CompoundRequest {
  public:
    explicit DeviceOperation(Request& request)
        : request_(request) {}
    void start() override { start_operation(request_); }
    [[nodiscard]] const proto::Operation* pending_operation() const override {
        return request_.kind != proto::Operation::Kind::none ? &request_ : nullptr;
    }

  private:
    Request& request_;
};

bool needs_copies(const Request* request) {
    if (request == nullptr || request->shared || request->is_proc_null) return false;
    return request->persistent || !request->done();
}

} // namespace

BufferParts bytes(int64_t n) { return elements(n, builtin_type(TypeId::BYTE)); }

BufferParts elements(int64_t count, Datatype& type) { return {{0, count, &type}}; }

BufferParts consecutive(CountArray counts, Datatype& type, int n) {
    int64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += counts[i];
    return elements(sum, type);
}

BufferParts blocks(CountArray counts, CountArray displs, Datatype& type, int n) {
    BufferParts parts;
    for (int i = 0; i < n; ++i) parts.push_back({displs[i] * type.extent, counts[i], &type});
    return parts;
}

BufferParts blocks(CountArray counts, CountArray displs, Datatype** types, int n) {
    BufferParts parts;
    for (int i = 0; i < n; ++i) parts.push_back({displs[i], counts[i], types[i]});
    return parts;
}

BufferParts partitions(int n, int64_t count, Datatype& type) {
    BufferParts parts;
    for (int i = 0; i < n; ++i) parts.push_back({i * count * type.extent, count, &type});
    return parts;
}

const void* CallBuffers::read(const void* buffer, BufferParts parts) {
    return replace(buffer, std::move(parts), Use::read);
}

void* CallBuffers::write(void* buffer, BufferParts parts) {
    return replace(buffer, std::move(parts), Use::write);
}

void* CallBuffers::replace(const void* buffer, BufferParts parts, Use use) {
    void* const unchanged = const_cast<void*>(buffer);
    const MemoryExtent extent = memory_extent_of(parts);
    if (buffer == in_place || extent.bytes == 0 || error_ != Err::success) return unchanged;
    const uintptr_t first = reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(extent.low);
    Driver* const driver = driver_at(first);
    if (driver != driver_at(first + static_cast<uintptr_t>(extent.bytes) - 1)) {
        error_ = fail(Err::buffer, "use separate calls for host memory and device memory",
                      "the buffer begins in one kind of memory and ends in another");
        return unchanged;
    }
    if (driver == nullptr) return unchanged;
    HostCopy copy(*driver, buffer, std::move(parts));
    error_ = copy.allocate();
    if (error_ != Err::success) return unchanged;
    void* const replacement = copy.address();
    if (copies_ == nullptr) copies_ = std::make_unique<HostCopies>();
    copies_->add(std::move(copy), use);
    return replacement;
}

void CallBuffers::require_host(const void* buffer, const char* param) {
    if (driver_at(reinterpret_cast<uintptr_t>(buffer)) == nullptr) return;
    error_ = fail(Err::buffer, "pass host memory; the origin buffers of RMA calls may be in device memory",
                  "%s is in device memory, which this call does not support", param);
}

Err CallBuffers::load() {
    if (error_ != Err::success || copies_ == nullptr) return error_;
    return copies_->load();
}

Err CallBuffers::finish(Err result) {
    return result == Err::success && copies_ != nullptr ? copies_->store() : result;
}

Err CallBuffers::finish(Err result, Request* request) {
    if (result != Err::success || copies_ == nullptr || !needs_copies(request)) return finish(result);
    if (request->compound == nullptr) request->compound = std::make_unique<DeviceOperation>(*request);
    copies_->keep_types();
    request->compound->copies = std::move(copies_);
    return Err::success;
}

Err CallBuffers::finish(Err result, Win& win, int target) {
    if (result == Err::success && copies_ != nullptr && target != proc_null) {
        const RuntimeLockGuard locked;
        win.window->flush_local(target);
    }
    return finish(result);
}

} // namespace zipmpi::core::device
