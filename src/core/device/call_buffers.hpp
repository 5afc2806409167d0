// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The buffers of one call in a process that may have device buffers. The generated entry points use it:
//
//     CallBuffers buffers;
//     buffers.write(recvbuf, elements(count, type)); // replaces recvbuf if it is in device memory
//     err = buffers.load();
//     if (err == Err::success) err = buffers.finish(core::recv(recvbuf, ...));
//
// finish() copies results back, or passes the copies to the request of the call, whose completion does it.
//
// Threads: finish() with a request runs under the lock of the progress engine.
#pragma once

#include "core/api/common.hpp"
#include "core/device/host_copy.hpp"

namespace zipmpi::core::device {

BufferParts bytes(int64_t n);
BufferParts elements(int64_t count, Datatype& type);
// One after the other, counts[i] elements each.
BufferParts consecutive(CountArray counts, Datatype& type, int n);
// Displacements in units of the extent.
BufferParts blocks(CountArray counts, CountArray displs, Datatype& type, int n);
// Displacements in bytes.
BufferParts blocks(CountArray counts, CountArray displs, Datatype** types, int n);
// One part for each partition, `count` elements each.
BufferParts partitions(int n, int64_t count, Datatype& type);

class CallBuffers {
  public:
    // The buffer, or its copy in host memory. The call only reads it, or may write it.
    [[nodiscard]] const void* read(const void* buffer, BufferParts parts);
    [[nodiscard]] void* write(void* buffer, BufferParts parts);
    // A buffer that must be in host memory.
    void require_host(const void* buffer, const char* param);

    Err load();
    Err finish(Err result);
    // A nonblocking or persistent call.
    Err finish(Err result, Request* request);
    // An RMA call without a request: it is complete on return.
    Err finish(Err result, Win& win, int target);

  private:
    void* replace(const void* buffer, BufferParts parts, Use use);

    Err error_ = Err::success;
    std::unique_ptr<HostCopies> copies_; // null: no device buffer
};

} // namespace zipmpi::core::device
