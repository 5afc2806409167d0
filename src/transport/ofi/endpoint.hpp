// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The endpoint of this process in libfabric: reliable and unconnected, with one completion queue. It sends
// and receives messages, reports completions to the component that posted the operation, and wakes sleepers.
#pragma once

#include "os/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/uio.h>

namespace zipmpi::transport::ofi {

struct OperationContext;

struct Completion {
    uint64_t flags; // FI_RECV, FI_MULTI_RECV, ...
    const std::byte* at;
    size_t bytes;
    int error; // 0: done
};

class CompletionHandler {
  public:
    virtual void completed(OperationContext& operation, const Completion& completion) = 0;

  protected:
    ~CompletionHandler() = default;
};

// Memory of libfabric during an operation, and the component that is told when it ends. Components derive
// their operations from it.
struct OperationContext {
    fi_context2 provider{};
    CompletionHandler* handler = nullptr;
};

enum class Posted {
    yes,       // completed() follows
    try_again, // after progress
    failed
};

// Objects of libfabric are closed in the reverse order of their creation.
template <class Object>
struct FidCloser {
    void operator()(Object* object) const { fi_close(&object->fid); }
};
template <class Object>
using Fid = std::unique_ptr<Object, FidCloser<Object>>;

class Endpoint {
  public:
    // Selects the best provider for the devices.
    bool find_provider(const char* devices, const char* provider, std::string& why);
    // Opens it.
    bool open(const char* devices, const char* provider, std::string& why);
    void close();
    [[nodiscard]] const std::string& address() const { return address_; } // to be published
    // Returns FI_ADDR_NOTAVAIL if the address is not one of this provider.
    [[nodiscard]] fi_addr_t insert(std::string_view address);
    [[nodiscard]] bool gathers() const { return info_->tx_attr->iov_limit >= 2; } // two pieces of memory

    // Memory belongs to libfabric until the completion.
    Posted send(fi_addr_t to, std::span<const iovec> pieces, OperationContext& operation);
    Posted send_tagged(fi_addr_t to, std::span<const std::byte> bytes, uint64_t tag,
                       OperationContext& operation);
    // Buffer for several messages; the last completion has the flag FI_MULTI_RECV.
    Posted receive_many(std::span<std::byte> buffer, OperationContext& operation);
    Posted receive_tagged(std::span<std::byte> bytes, uint64_t tag, OperationContext& operation);
    void cancel(OperationContext& operation) { fi_cancel(&endpoint_->fid, &operation.provider); }

    // Reports some completions. Returns their number.
    int poll();

    [[nodiscard]] int descriptor() const { return epoll_.get(); }
    enum class Attention { on_event, soon }; // soon: an operation must be posted again
    // Returns false if there are completions.
    bool arm(Attention attention);

  private:
    bool create(std::string& why);
    bool open_queue(std::string& why);
    bool open_wakeup();
    bool load_address();
    void report_error();

    struct InfoDeleter {
        void operator()(fi_info* info) const { fi_freeinfo(info); }
    };
    std::unique_ptr<fi_info, InfoDeleter> info_;
    Fid<fid_fabric> fabric_;
    Fid<fid_domain> domain_;
    Fid<fid_cq> queue_;
    Fid<fid_av> addresses_;
    Fid<fid_ep> endpoint_;
    std::string address_;
    int queue_descriptor_ = -1; // -1: the provider has none
    os::Fd epoll_;
    os::Fd timer_;
    bool timer_runs_ = false;
};

} // namespace zipmpi::transport::ofi
