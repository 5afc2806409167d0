// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Opens and connects the device; registers memory.
#include "transport/ucx/uct_device.hpp"

namespace zipmpi::transport::ucx {

bool UctDevice::start(std::string_view devices, std::string& why) {
    why = "no device of " + std::string(devices) + " supports put, get and atomics without the target's CPU";
    return port_.open(devices, {on_error, this});
}

UctDevice::~UctDevice() {
    for (const UctEndpoint& endpoint : endpoints_)
        if (endpoint.ep != nullptr) uct_ep_destroy(endpoint.ep);
}

int UctDevice::create_endpoint(std::string& text) {
    uct_ep_params_t params{};
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE;
    params.iface = port_.interface();
    uct_ep_h endpoint = nullptr;
    if (uct_ep_create(&params, &endpoint) != UCS_OK) return -1;
    std::string address(port_.interface_attr().device_addr_len + port_.interface_attr().ep_addr_len, '\0');
    if (uct_iface_get_device_address(port_.interface(),
                                     reinterpret_cast<uct_device_addr_t*>(address.data())) != UCS_OK ||
        uct_ep_get_address(endpoint, reinterpret_cast<uct_ep_addr_t*>(
                                         address.data() + port_.interface_attr().device_addr_len)) !=
            UCS_OK) {
        uct_ep_destroy(endpoint);
        return -1;
    }
    text = address;
    endpoints_.emplace_back().ep = endpoint;
    return static_cast<int>(endpoints_.size()) - 1;
}

bool UctDevice::connect(int endpoint, std::string_view text) {
    // A device of another type has addresses of another length.
    if (text.size() != port_.interface_attr().device_addr_len + port_.interface_attr().ep_addr_len)
        return false;
    const auto* device = reinterpret_cast<const uct_device_addr_t*>(text.data());
    const auto* address =
        reinterpret_cast<const uct_ep_addr_t*>(text.data() + port_.interface_attr().device_addr_len);
    return uct_iface_is_reachable(port_.interface(), device, nullptr) != 0 &&
           uct_ep_connect_to_ep(endpoints_[static_cast<size_t>(endpoint)].ep, device, address) == UCS_OK;
}

bool UctDevice::register_memory(void* at, size_t bytes, MemoryRegion& exposed) {
    uct_mem_h handle = nullptr;
    if (uct_md_mem_reg(port_.domain(), at, bytes, UCT_MD_MEM_ACCESS_ALL, &handle) != UCS_OK) return false;
    exposed.handle = handle;
    exposed.key.resize(port_.domain_attr().rkey_packed_size);
    if (uct_md_mkey_pack(port_.domain(), handle, exposed.key.data()) == UCS_OK) return true;
    deregister_memory(exposed);
    return false;
}

void UctDevice::deregister_memory(MemoryRegion& exposed) {
    if (exposed.handle != nullptr) uct_md_mem_dereg(port_.domain(), exposed.handle);
    exposed = {};
}

bool UctDevice::import_key(std::string_view key, RemoteKey& remote) {
    uct_rkey_bundle_t bundle{};
    if (key.size() != port_.domain_attr().rkey_packed_size ||
        uct_rkey_unpack(port_.component(), key.data(), &bundle) != UCS_OK)
        return false;
    remote = {bundle.rkey, bundle.handle};
    return true;
}

void UctDevice::release_key(RemoteKey& remote) {
    uct_rkey_bundle_t bundle{};
    bundle.rkey = remote.key;
    bundle.handle = remote.handle;
    if (remote.key != 0) uct_rkey_release(port_.component(), &bundle);
    remote = {};
}

} // namespace zipmpi::transport::ucx

extern "C" [[gnu::visibility("default")]] zipmpi::transport::RdmaDevice*
zipmpi_ucx_open_direct_3(const char* devices, std::string& why) {
    auto device = std::make_unique<zipmpi::transport::ucx::UctDevice>();
    return device->start(devices, why) ? device.release() : nullptr;
}
