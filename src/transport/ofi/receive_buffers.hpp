// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers for messages that are not tagged. Each takes several messages; it is posted again when it is full
// and all of them are processed.
#pragma once

#include "transport/ofi/endpoint.hpp"
#include "wire/ofi_layout.hpp"

#include <array>
#include <memory>
#include <vector>

namespace zipmpi::transport::ofi {

class MessageListener {
  public:
    virtual void message_arrived(std::span<const std::byte> bytes) = 0; // valid during the call

  protected:
    ~MessageListener() = default;
};

class ReceiveBuffers final : public CompletionHandler {
  public:
    ReceiveBuffers(Endpoint& endpoint, MessageListener& listener)
        : endpoint_(endpoint)
        , listener_(listener) {}

    bool post_all();
    void retry(); // those that libfabric did not accept
    [[nodiscard]] bool has_queued() const { return !unposted_.empty(); }
    void completed(OperationContext& operation, const Completion& completion) override;

  private:
    static constexpr size_t buffer_count =
        3; // while one is processed, the others receive; all fit in a cache
    static constexpr size_t buffer_bytes = 5 * wire::ofi_message_max;

    struct Buffer : OperationContext {
        std::unique_ptr<std::byte[]> memory;
    };
    Posted post(Buffer& buffer);

    Endpoint& endpoint_;
    MessageListener& listener_;
    std::array<Buffer, buffer_count> buffers_;
    std::vector<Buffer*> unposted_;
};

} // namespace zipmpi::transport::ofi
