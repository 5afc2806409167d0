// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/buffer_staging.hpp"

namespace zipmpi::transport::ucx {

std::pair<void*, size_t> BufferStaging::stage_noncontiguous(const BufferRef& m, IovStaging& staging,
                                                            DeviceIov iov, ucp_request_param_t& param) {
    if (iov == DeviceIov::supported && fill_iov(m, staging)) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = UCP_DATATYPE_IOV;
        return {staging.iov.data(), staging.iov.size()};
    }
    staging.packed = acquire(m.bytes);
    return {staging.packed.data(), m.bytes};
}

bool BufferStaging::fill_iov(const BufferRef& memory, IovStaging& staging) const {
    constexpr size_t max_iov = 256;
    iovec list[max_iov];
    const size_t n = listener_.list_iov(memory.operation, list, max_iov);
    staging.iov.clear();
    for (size_t i = 0; i < n; ++i) staging.iov.push_back({list[i].iov_base, list[i].iov_len});
    return n != 0;
}

std::vector<std::byte> BufferStaging::acquire(uint64_t bytes) {
    std::vector<std::byte> buffer;
    if (!free_.empty()) {
        buffer = std::move(free_.back());
        free_.pop_back();
    }
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer;
}

void BufferStaging::keep(std::vector<std::byte>&& buffer) {
    constexpr size_t max_buffers = 64;
    constexpr size_t largest_kept = 4U << 20;
    if (buffer.size() <= largest_kept && free_.size() < max_buffers) free_.push_back(std::move(buffer));
    buffer.clear();
}

} // namespace zipmpi::transport::ucx
