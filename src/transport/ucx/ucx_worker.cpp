// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ucx_worker.hpp"

#include "os/socket.hpp"
#include "transport/discovery/rdma_ports.hpp"
#include "wire/net_layout.hpp"

#include <cstdlib>

namespace zipmpi::transport::ucx {
namespace {

// Sets a value unless the user has set it. Names begin with UCX_.
bool set_default(ucp_config_t* config, const char* name, const char* value) {
    return std::getenv(name) != nullptr || ucp_config_modify(config, name + 4, value) == UCS_OK;
}

// Emulated devices do not report the protocol of a datagram; UCX's check would drop all of them.
bool any_emulated(std::string_view devices) {
    for (size_t begin = 0; begin < devices.size();) {
        const std::string_view name = devices.substr(begin, devices.find(',', begin) - begin);
        if (discovery::has_rdma(name) && discovery::is_emulated(name)) return true;
        begin += name.size() + 1;
    }
    return false;
}

// UCX 1.13 accepts settings of TCP only by their short names and silently ignores unknown names.
bool set_tcp_default(ucp_config_t* config, const std::string& name, const char* value) {
    const std::string variable = "UCX_TCP_" + name;
    return set_default(config, variable.c_str(), value) &&
           (std::getenv(variable.c_str()) != nullptr ||
            ucp_config_modify(config, name.c_str(), value) == UCS_OK);
}

bool configure(ucp_config_t* config, const char* devices, PeerLifetime lifetime) {
    if (!set_default(config, "UCX_TLS", "^sm,self")) return false; // ranks of one host use shm
    if (lifetime == PeerLifetime::may_return && !set_tcp_default(config, "CONN_NB", "y")) return false;
    const std::string& ports = os::port_range();
    if (!ports.empty() && !set_tcp_default(config, "PORT_RANGE", ports.c_str())) return false;
    if (any_emulated(devices) && !set_default(config, "UCX_UD_ETH_DGID_CHECK", "n")) return false;
    return *devices == '\0' || set_default(config, "UCX_NET_DEVICES", devices);
}

std::string error_text(const char* call, ucs_status_t status) {
    return std::string(call) + " of UCX " + ucp_get_version_string() + ": " + ucs_status_string(status);
}

} // namespace

bool UcxWorker::start(const char* devices, PeerLifetime lifetime, std::string& why) {
    rdma_ = discovery::has_rdma(devices);
    if (!create_context(devices, lifetime, why)) return false;
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    ucs_status_t status = ucp_worker_create(context_, &params, &worker_);
    if (status == UCS_OK) status = ucp_worker_get_efd(worker_, &descriptor_);
    if (status != UCS_OK) why = error_text("ucp_worker_create", status);
    return status == UCS_OK;
}

bool UcxWorker::create_context(const char* devices, PeerLifetime lifetime, std::string& why) {
    ucp_config_t* config = nullptr;
    ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
    if (status != UCS_OK || !configure(config, devices, lifetime)) {
        why = error_text("ucp_config_read", status);
        return false;
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    if (rdma_)
        params.features |= UCP_FEATURE_RMA; // else UCX does not report whether remote memory can be read
    status = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    if (status != UCS_OK) why = error_text("ucp_init", status);
    return status == UCS_OK;
}

void UcxWorker::stop() {
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
    worker_ = nullptr;
    context_ = nullptr;
}

bool UcxWorker::handle(unsigned id, ucp_am_recv_callback_t receive, void* component) {
    ucp_am_handler_param_t h{};
    h.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                   UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
    h.id = id;
    h.cb = receive;
    h.arg = component;
    h.flags = UCP_AM_FLAG_WHOLE_MSG;
    return ucp_worker_set_am_recv_handler(worker_, &h) == UCS_OK;
}

bool UcxWorker::load_address() {
    ucp_address_t* address = nullptr;
    size_t length = 0;
    if (ucp_worker_get_address(worker_, &address, &length) != UCS_OK) return false;
    address_.assign(reinterpret_cast<const char*>(address), length);
    ucp_worker_release_address(worker_, address);
    return length <= wire::net_address_max;
}

bool UcxWorker::arm() {
    if (needs_arm_ && ucp_worker_arm(worker_) != UCS_OK) return false;
    needs_arm_ = false;
    return true;
}

} // namespace zipmpi::transport::ucx
