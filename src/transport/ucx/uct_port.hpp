// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opens the UCT interface of a network device that has all capabilities of an RdmaDevice.
#pragma once

#include "base/function_deleter.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <uct/api/uct.h>

namespace zipmpi::transport::ucx {

// Closed when a later step of opening fails.
using AsyncContext = std::unique_ptr<ucs_async_context_t, FunctionDeleter<ucs_async_context_destroy>>;
using UctWorker = std::unique_ptr<uct_worker, FunctionDeleter<uct_worker_destroy>>;
using UctDomain = std::unique_ptr<uct_md, FunctionDeleter<uct_md_close>>;
using UctInterface = std::unique_ptr<uct_iface, FunctionDeleter<uct_iface_close>>;

class UctPort {
  public:
    // Called when an endpoint fails.
    struct ErrorHandler {
        uct_error_handler_t call;
        void* device;
    };

    // Opens the first suitable one of the devices, comma-separated.
    bool open(std::string_view devices, const ErrorHandler& on_error);

    [[nodiscard]] uct_worker_h worker() const { return worker_.get(); }
    [[nodiscard]] uct_md_h domain() const { return md_.get(); }
    [[nodiscard]] uct_iface_h interface() const { return iface_.get(); }
    [[nodiscard]] uct_component_h component() const { return component_; }
    [[nodiscard]] const uct_md_attr_t& domain_attr() const { return md_attr_; }
    [[nodiscard]] const uct_iface_attr_t& interface_attr() const { return iface_attr_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    // Operations of an endpoint take effect at the target in order.
    [[nodiscard]] bool keeps_order() const { return keeps_order_; }

  private:
    bool open_domain(uct_component_h component, const char* name, std::string_view devices,
                     const ErrorHandler& on_error);
    bool open_interface(const uct_tl_resource_desc_t& resource, const ErrorHandler& on_error);
    [[nodiscard]] bool has_required_caps() const;

    // In the order of opening.
    AsyncContext async_;
    UctWorker worker_;
    UctDomain md_;
    UctInterface iface_;
    uct_component_h component_ = nullptr;
    uct_md_attr_t md_attr_{};
    uct_iface_attr_t iface_attr_{};
    std::string name_;
    bool keeps_order_ = false;
};

} // namespace zipmpi::transport::ucx
