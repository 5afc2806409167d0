// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Stands for noncontiguous memory during a UCX operation: an iovec where devices gather or scatter, else
// packed bytes. Over TCP, UCX handles an iovec or a user-defined datatype at a third of the bandwidth.
#pragma once

#include "transport/network.hpp"

#include <ucp/api/ucp.h>
#include <utility>
#include <vector>

namespace zipmpi::transport::ucx {

struct IovStaging {
    std::vector<ucp_dt_iov_t> iov;
    std::vector<std::byte> packed;
};

enum class DeviceIov { unsupported, supported };

// Buffers are reused: fresh memory is slow.
class BufferStaging {
  public:
    explicit BufferStaging(NetworkListener& listener)
        : listener_(listener) {}

    // Description of memory for UCX: pointer, count, and the datatype in param.
    std::pair<void*, size_t> stage(const BufferRef& memory, IovStaging& staging, DeviceIov iov,
                                   ucp_request_param_t& param) {
        if (memory.at != nullptr || memory.bytes == 0) return {memory.at, memory.bytes};
        return stage_noncontiguous(memory, staging, iov, param);
    }
    std::vector<std::byte> acquire(uint64_t bytes);
    void release(std::vector<std::byte>&& buffer) {
        if (!buffer.empty()) keep(std::move(buffer));
    }

  private:
    std::pair<void*, size_t> stage_noncontiguous(const BufferRef& memory, IovStaging& staging, DeviceIov iov,
                                                 ucp_request_param_t& param);
    void keep(std::vector<std::byte>&& buffer);
    bool fill_iov(const BufferRef& memory, IovStaging& staging) const;

    NetworkListener& listener_;
    std::vector<std::vector<std::byte>> free_;
};

} // namespace zipmpi::transport::ucx
