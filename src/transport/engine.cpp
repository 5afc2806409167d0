// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/engine.hpp"

#include "base/param.hpp"
#include "os/crypto_module.hpp"
#include "transport/discovery/ofi_devices.hpp"
#include "transport/discovery/probe.hpp"
#include "transport/discovery/rdma_ports.hpp"
#include "transport/ofi/ofi_module.hpp"
#include "transport/tcp_engine/tcp_network.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <net/if.h>

namespace zipmpi::transport {
namespace {

Param<std::string> wanted_engine{"net.engine",
                                 "auto",
                                 "auto|ucx|tcp|ofi",
                                 Level::user,
                                 Scope::job_wide,
                                 "network engine between hosts; auto: ofi (libfabric) with devices that only "
                                 "it drives, ucx with other RDMA devices, else tcp"};

Param<std::string> ofi_provider{
    "net.ofi_provider",
    "",
    nullptr,
    Level::tuner,
    Scope::job_wide,
    "provider of libfabric for the engine ofi, as fi_info names it; empty: by the "
    "devices"};

Param<std::string> seal{"net.seal",
                        "off",
                        "off|auth|full",
                        Level::user,
                        Scope::job_wide,
                        "protection of messages between hosts after the handshake; auth: altered ones are "
                        "detected, full: also encrypted; needs the engine tcp"};

enum class DeviceKind { ofi, rdma, tcp };

DeviceKind kind_of(std::string_view device) {
    if (discovery::has_ofi_device(device)) return DeviceKind::ofi;
    return discovery::has_rdma(device) ? DeviceKind::rdma : DeviceKind::tcp;
}

std::string devices_of_kind(DeviceKind kind, std::string_view devices) {
    std::string kept;
    for (size_t begin = 0; begin < devices.size();) {
        const std::string_view name = devices.substr(begin, devices.find(',', begin) - begin);
        if (kind_of(name) == kind) kept.append(kept.empty() ? "" : ",").append(name);
        begin += name.size() + 1;
    }
    return kept;
}

} // namespace

Engine engine_for(const std::string& devices) {
    if (wanted_engine.get() == "ucx") return Engine::ucx;
    if (wanted_engine.get() == "ofi") return Engine::ofi;
    if (wanted_engine.get() == "tcp" || seal.get() != "off") return Engine::tcp;
    if (discovery::has_ofi_device(devices)) return Engine::ofi;
    return discovery::has_rdma(devices) ? Engine::ucx : Engine::tcp;
}

DeviceKinds device_kinds_of_host() {
    struct if_nameindex* const interfaces = if_nameindex();
    DeviceKinds kinds;
    for (const struct if_nameindex* i = interfaces; i != nullptr && i->if_name != nullptr && !kinds.rdma; ++i)
        kinds.rdma = std::ranges::any_of(discovery::rdma_ports_of(i->if_name),
                                         [](const discovery::RdmaPort& port) { return port.error.empty(); });
    if (interfaces != nullptr) if_freenameindex(interfaces);
    const std::string of_ofi = discovery::ofi_devices();
    kinds.ofi = !of_ofi.empty() && engine_for(of_ofi) == Engine::ofi &&
                ofi::drives(of_ofi, ofi_provider.get().c_str());
    return kinds;
}

std::string with_ofi_devices(const std::string& devices) {
    const std::string added = discovery::ofi_devices();
    return added.empty() || devices.empty() ? added + devices : added + "," + devices;
}

std::string without_rdma(const std::string& devices) { return devices_of_kind(DeviceKind::tcp, devices); }

const char* name_of(Engine engine) {
    switch (engine) {
    case Engine::tcp:
        return "tcp";
    case Engine::ucx:
        return "ucx";
    case Engine::ofi:
        return "ofi";
    }
    return "";
}

static std::unique_ptr<FrameNetwork> open_tcp(const NetworkConfig& settings, FrameConfig frames,
                                              std::string& why) {
    stream::Sealing sealing;
    if (seal.get() != "off") {
        sealing = {os::load_crypto(why), seal.get() == "full" ? RecordText::encrypted : RecordText::readable};
        if (sealing.crypto == nullptr) return nullptr;
        frames.streams = frames.offers_streams = false; // they are not sealed
    }
    auto network = std::make_unique<tcp_engine::TcpNetwork>(settings, frames, sealing);
    return network->start(settings.devices, why) ? std::move(network) : nullptr;
}

std::unique_ptr<FrameNetwork> open_network(const NetworkConfig& settings, const FrameConfig& frames,
                                           std::string& why) {
    const Engine engine = engine_for(settings.devices);
    if (engine == Engine::tcp) return open_tcp(settings, frames, why);
    if (seal.get() != "off") {
        why = std::string("net.seal needs the engine tcp, and net.engine is ") + name_of(engine);
        return nullptr;
    }
    // UCX and libfabric open a TCP port, and read what anyone sends there, only if they are given TCP
    // interfaces.
    NetworkConfig of_engine = settings;
    const DeviceKind own_kind = engine == Engine::ofi ? DeviceKind::ofi : DeviceKind::rdma;
    const std::string kept =
        wanted_engine.get() == "auto" ? devices_of_kind(own_kind, settings.devices) : settings.devices;
    of_engine.devices = kept.c_str();
    if (engine == Engine::ofi)
        return std::unique_ptr<FrameNetwork>(
            ofi::open_for_frames(of_engine, frames, ofi_provider.get().c_str(), why));
    return std::unique_ptr<FrameNetwork>(ucx::open_for_frames(of_engine, frames, why));
}

std::unique_ptr<DeviceProbe> new_probe(int world_rank, const auth::HandshakeKeys& keys) {
    return std::make_unique<discovery::TcpDeviceProbe>(world_rank, keys);
}

} // namespace zipmpi::transport
