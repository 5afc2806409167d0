// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/uct_port.hpp"

#include <ucs/async/async_fwd.h>
#include <vector>

namespace zipmpi::transport::ucx {
namespace {

bool is_listed(std::string_view devices, std::string_view name) {
    for (size_t begin = 0; begin < devices.size();) {
        const std::string_view one = devices.substr(begin, devices.find(',', begin) - begin);
        if (one == name) return true;
        begin += one.size() + 1;
    }
    return false;
}

// Devices of a domain are named NAME:PORT.
bool may_match_listed(std::string_view devices, const std::string& domain) {
    return ("," + std::string(devices)).find("," + domain + ":") != std::string::npos;
}

} // namespace

bool UctPort::has_required_caps() const {
    constexpr uint64_t moves = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                               UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_BCOPY |
                               UCT_IFACE_FLAG_GET_ZCOPY | UCT_IFACE_FLAG_CONNECT_TO_EP;
    constexpr uint64_t atomics = UCS_BIT(UCT_ATOMIC_OP_ADD) | UCS_BIT(UCT_ATOMIC_OP_CSWAP);
    return (iface_attr_.cap.flags & moves) == moves &&
           (iface_attr_.cap.flags & UCT_IFACE_FLAG_ATOMIC_DEVICE) != 0 &&
           (iface_attr_.cap.atomic64.fop_flags & atomics) == atomics &&
           (md_attr_.cap.flags & UCT_MD_FLAG_REG) != 0;
}

bool UctPort::open_interface(const uct_tl_resource_desc_t& resource, const ErrorHandler& on_error) {
    uct_iface_config_t* config = nullptr;
    if (uct_md_iface_config_read(md_.get(), resource.tl_name, nullptr, nullptr, &config) != UCS_OK)
        return false;
    uct_iface_params_t params{};
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER | UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG;
    params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
    params.mode.device.tl_name = resource.tl_name;
    params.mode.device.dev_name = resource.dev_name;
    params.err_handler = on_error.call;
    params.err_handler_arg = on_error.device;
    uct_iface_h interface = nullptr;
    const ucs_status_t status = uct_iface_open(md_.get(), worker_.get(), &params, config, &interface);
    uct_config_release(config);
    if (status != UCS_OK) return false;
    iface_.reset(interface);
    if (uct_iface_query(interface, &iface_attr_) == UCS_OK && has_required_caps()) {
        uct_iface_progress_enable(interface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
        name_ = std::string(resource.tl_name) + " on " + resource.dev_name;
        return true;
    }
    iface_.reset();
    return false;
}

bool UctPort::open_domain(uct_component_h component, const char* name, std::string_view devices,
                          const ErrorHandler& on_error) {
    uct_md_config_t* config = nullptr;
    if (uct_md_config_read(component, nullptr, nullptr, &config) != UCS_OK) return false;
    // Otherwise the bus of a target may reorder what arrives in order.
    const bool bus_keeps_order = uct_config_modify(config, "PCI_RELAXED_ORDERING", "n") == UCS_OK;
    uct_md_h domain = nullptr;
    const ucs_status_t status = uct_md_open(component, name, config, &domain);
    uct_config_release(config);
    if (status != UCS_OK) return false;
    md_.reset(domain);
    component_ = component;
    uct_tl_resource_desc_t* resources = nullptr;
    unsigned count = 0;
    bool found = false;
    if (uct_md_query(domain, &md_attr_) == UCS_OK &&
        uct_md_query_tl_resources(domain, &resources, &count) == UCS_OK) {
        for (unsigned i = 0; i < count && !found; ++i)
            found = resources[i].dev_type == UCT_DEVICE_TYPE_NET &&
                    is_listed(devices, resources[i].dev_name) && open_interface(resources[i], on_error);
        uct_release_tl_resource_list(resources);
    }
    if (!found) md_.reset();
    // A reliable connection has one queue, whose requests the target's device executes in order.
    keeps_order_ = found && bus_keeps_order && name_.starts_with("rc_");
    return found;
}

bool UctPort::open(std::string_view devices, const ErrorHandler& on_error) {
    ucs_async_context_t* async = nullptr;
    uct_worker_h worker = nullptr;
    if (ucs_async_context_create(UCS_ASYNC_MODE_POLL, &async) != UCS_OK) return false;
    async_.reset(async);
    if (uct_worker_create(async, UCS_THREAD_MODE_SERIALIZED, &worker) != UCS_OK) return false;
    worker_.reset(worker);
    uct_component_h* components = nullptr;
    unsigned count = 0;
    if (uct_query_components(&components, &count) != UCS_OK) return false;
    bool found = false;
    for (unsigned i = 0; i < count && !found; ++i) {
        uct_component_attr_t facts{};
        facts.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
        if (uct_component_query(components[i], &facts) != UCS_OK || facts.md_resource_count == 0) continue;
        std::vector<uct_md_resource_desc_t> domains(facts.md_resource_count);
        facts.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
        facts.md_resources = domains.data();
        if (uct_component_query(components[i], &facts) != UCS_OK) continue;
        for (size_t k = 0; k < domains.size() && !found; ++k)
            found = may_match_listed(devices, domains[k].md_name) &&
                    open_domain(components[i], domains[k].md_name, devices, on_error);
    }
    uct_release_component_list(components);
    return found;
}

} // namespace zipmpi::transport::ucx
