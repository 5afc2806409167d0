// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/provider_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <netinet/in.h>

namespace zipmpi::transport::ofi {
namespace {

// The first one is preferred. Not in the list: udp;ofi_rxd (loses messages under load), sockets (does not
// connect between hosts), shm (ranks of one host use our own shared memory).
constexpr std::string_view preferred_providers[] = {"cxi", "efa", "opx", "tcp", "net", "tcp;ofi_rxm"};

// Domains have the name of the device, or begin with it: "rdmap0s6-rdm". Ports are those of UCX: "mlx5_0:1".
bool is_on_device(const fi_info& info, std::string_view device) {
    device = device.substr(0, device.find(':'));
    const std::string_view domain(info.domain_attr->name != nullptr ? info.domain_attr->name : "");
    return domain.starts_with(device) && (domain.size() == device.size() || domain[device.size()] == '-');
}

size_t provider_place(const fi_info& info, std::string_view provider) {
    const std::string_view name(info.fabric_attr->prov_name);
    if (!provider.empty()) return name == provider ? 0 : std::size(preferred_providers);
    return static_cast<size_t>(std::ranges::find(preferred_providers, name) - preferred_providers);
}

// IPv4 first, because all hosts must use the same family. A link-local address has no meaning on another host
// without the name of an interface.
size_t address_place(const fi_info& info) {
    if (info.addr_format != FI_SOCKADDR_IN6) return 0;
    const auto* const address = static_cast<const sockaddr_in6*>(info.src_addr);
    return address != nullptr && !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr) ? 1 : 2;
}

size_t device_place(const fi_info& info, std::string_view devices) {
    size_t place = 0;
    for (size_t begin = 0; begin < devices.size(); ++place) {
        const std::string_view device = devices.substr(begin, devices.find(',', begin) - begin);
        if (is_on_device(info, device)) return place;
        begin += device.size() + 1;
    }
    return devices.empty() ? 0 : SIZE_MAX;
}

} // namespace

const fi_info* choose_info(const fi_info* offered, std::string_view devices, std::string_view provider) {
    struct Place {
        size_t provider = std::size(preferred_providers), device = SIZE_MAX, address = 2;
        auto operator<=>(const Place&) const = default; // NOLINT(modernize-use-nullptr): generated code
    };
    const fi_info* best = nullptr;
    Place best_place;
    for (const fi_info* info = offered; info != nullptr; info = info->next) {
        const Place place{provider_place(*info, provider), device_place(*info, devices),
                          address_place(*info)};
        if (place.provider == std::size(preferred_providers) || place.device == SIZE_MAX ||
            place.address == 2)
            continue;
        if (best != nullptr && !(place < best_place)) continue;
        best = info;
        best_place = place;
    }
    return best;
}

} // namespace zipmpi::transport::ofi
