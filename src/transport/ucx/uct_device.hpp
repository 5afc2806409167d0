// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RdmaDevice on one UCT interface, with the operations in flight on its endpoints.
#pragma once

#include "transport/rdma_device.hpp"
#include "transport/ucx/uct_port.hpp"

#include <deque>
#include <list>

namespace zipmpi::transport::ucx {

class UctDevice final : public RdmaDevice {
  public:
    UctDevice() = default;
    ~UctDevice() override;
    UctDevice(const UctDevice&) = delete;
    UctDevice& operator=(const UctDevice&) = delete;
    bool start(std::string_view devices, std::string& why);

    [[nodiscard]] const std::string& name() const override { return port_.name(); }
    [[nodiscard]] bool is_coherent() const override {
        return (port_.interface_attr().cap.flags & UCT_IFACE_FLAG_ATOMIC_CPU) != 0;
    }
    [[nodiscard]] bool keeps_order() const override { return port_.keeps_order(); }
    int create_endpoint(std::string& text) override;
    bool connect(int endpoint, std::string_view text_of_peer) override;
    bool register_memory(void* at, size_t bytes, MemoryRegion& exposed) override;
    void deregister_memory(MemoryRegion& exposed) override;
    bool import_key(std::string_view key, RemoteKey& remote) override;
    void release_key(RemoteKey& remote) override;
    void put(int endpoint, const void* here, size_t bytes, const RemoteAddress& there) override;
    void get(int endpoint, void* here, size_t bytes, const RemoteAddress& there) override;
    void fetch_add(int endpoint, uint64_t value, uint64_t* before, const RemoteAddress& there) override;
    void swap(int endpoint, uint64_t value, uint64_t* before, const RemoteAddress& there) override;
    void compare_swap(int endpoint, uint64_t compare, uint64_t value, uint64_t* before,
                      const RemoteAddress& there) override;
    void progress() override;
    bool flushed(int endpoint) override;
    [[nodiscard]] bool failed(int endpoint) const override {
        return endpoints_[static_cast<size_t>(endpoint)].failed;
    }

  private:
    enum class Kind { put, get, add, swap, compare_swap };
    struct UctEndpoint;
    struct UctOp {
        uct_completion_t completion; // fragments in flight, plus 1 while fragments are issued
        UctEndpoint* endpoint;
        Kind kind;
        std::byte* local;
        size_t bytes;
        size_t issued; // bytes of the fragments issued so far
        RemoteAddress remote;
        uint64_t value;
        uint64_t compare;
        uint64_t* previous;
        uct_mem_h registered; // local memory handle; null: copied
        bool complete;
    };
    struct UctFlush {
        uct_completion_t completion;
        UctEndpoint* endpoint;
    };
    struct UctEndpoint {
        uct_ep_h ep = nullptr;
        std::deque<UctOp*> queued; // in order; fragments of the first may be in flight
        std::list<UctOp> operations;
        UctFlush flush{};
        bool flushing = false;
        bool unflushed = false;
        bool failed = false;
    };

    void add(int endpoint, UctOp operation);
    void issue_queued(UctEndpoint& endpoint);
    ucs_status_t issue_part(UctOp& operation);
    ucs_status_t issue_put(UctOp& operation);
    ucs_status_t issue_get(UctOp& operation);
    void register_buffer(UctOp& operation);
    static void on_part_done(uct_completion_t* completion);
    static void on_flushed(uct_completion_t* completion);
    static ucs_status_t on_error(void* self, uct_ep_h endpoint, ucs_status_t status);

    UctPort port_;
    std::deque<UctEndpoint> endpoints_; // deque: operations point to its elements
};

} // namespace zipmpi::transport::ucx
