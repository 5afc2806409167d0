// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The UCX context and worker of this process: configuration, address, active messages, events.
#pragma once

#include <string>
#include <ucp/api/ucp.h>

namespace zipmpi::transport::ucx {

// Whether peers may be cut off and reconnected. UCX would block for that, up to seconds, while other peers
// are reachable.
enum class PeerLifetime { permanent, may_return };

class UcxWorker {
  public:
    UcxWorker() = default;
    ~UcxWorker() { stop(); }
    UcxWorker(const UcxWorker&) = delete;
    UcxWorker& operator=(const UcxWorker&) = delete;

    bool start(const char* devices, PeerLifetime lifetime, std::string& why);
    void stop();
    // Registers the receiver of an active message.
    bool handle(unsigned id, ucp_am_recv_callback_t receive, void* component);
    bool load_address(); // once all receivers are registered

    [[nodiscard]] ucp_worker_h get() const { return worker_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] const std::string& address() const { return address_; }
    [[nodiscard]] bool may_use_rdma() const { return rdma_; }

    // To be called when UCX is used: it must be armed before the next wait. Without endpoints, a device
    // raises no events unless it is armed.
    void require_arm() { needs_arm_ = true; }
    [[nodiscard]] bool needs_arm() const { return needs_arm_; }
    bool arm(); // false: UCX needs progress
    unsigned progress() { return ucp_worker_progress(worker_); }

  private:
    bool create_context(const char* devices, PeerLifetime lifetime, std::string& why);

    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    int descriptor_ = -1;
    std::string address_;
    bool rdma_ = false;     // a device may support RDMA
    bool needs_arm_ = true; // UCX was called since it was armed
};

} // namespace zipmpi::transport::ucx
