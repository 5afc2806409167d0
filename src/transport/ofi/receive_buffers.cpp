// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/receive_buffers.hpp"

#include "wire/ofi_layout.hpp"

#include <rdma/fi_errno.h>
#include <utility>

namespace zipmpi::transport::ofi {

bool ReceiveBuffers::post_all() {
    static_assert(buffer_bytes >= 4 * wire::ofi_message_max);
    for (Buffer& buffer : buffers_) {
        buffer.handler = this;
        buffer.memory =
            std::make_unique_for_overwrite<std::byte[]>(buffer_bytes); // not touched before its use
        if (post(buffer) == Posted::failed) return false;
    }
    return true;
}

Posted ReceiveBuffers::post(Buffer& buffer) {
    const Posted posted = endpoint_.receive_many({buffer.memory.get(), buffer_bytes}, buffer);
    if (posted == Posted::try_again) unposted_.push_back(&buffer);
    return posted;
}

void ReceiveBuffers::retry() {
    for (Buffer* const buffer : std::exchange(unposted_, {})) static_cast<void>(post(*buffer));
}

// A message that failed was of a peer that failed, which is noticed elsewhere.
void ReceiveBuffers::completed(OperationContext& operation, const Completion& completion) {
    if (completion.error == 0 && (completion.flags & FI_RECV) != 0 && completion.bytes != 0)
        listener_.message_arrived({completion.at, completion.bytes});
    if ((completion.flags & FI_MULTI_RECV) != 0) static_cast<void>(post(static_cast<Buffer&>(operation)));
}

} // namespace zipmpi::transport::ofi
