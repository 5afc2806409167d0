// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/engine.hpp"

#include "base/param.hpp"
#include "os/crypto_module.hpp"
#include "transport/discovery/probe.hpp"
#include "transport/discovery/rdma_ports.hpp"
#include "transport/tcp_engine/tcp_network.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <net/if.h>

namespace zipmpi::transport {
namespace {

Param<std::string> wanted_engine{
    "net.engine", "auto",          "auto|ucx|tcp",
    Level::user,  Scope::job_wide, "network engine between hosts; auto: ucx with RDMA devices, else tcp"};

Param<std::string> seal{"net.seal",
                        "off",
                        "off|auth|full",
                        Level::user,
                        Scope::job_wide,
                        "protection of messages between hosts after the handshake; auth: altered ones are "
                        "detected, full: also encrypted; needs the engine tcp"};

enum class DeviceKind { rdma, tcp };

std::string devices_of_kind(DeviceKind kind, std::string_view devices) {
    std::string kept;
    for (size_t begin = 0; begin < devices.size();) {
        const std::string_view name = devices.substr(begin, devices.find(',', begin) - begin);
        const DeviceKind of_name = discovery::has_rdma(name) ? DeviceKind::rdma : DeviceKind::tcp;
        if (of_name == kind) kept.append(kept.empty() ? "" : ",").append(name);
        begin += name.size() + 1;
    }
    return kept;
}

} // namespace

Engine engine_for(const std::string& devices) {
    if (wanted_engine.get() == "ucx") return Engine::ucx;
    const bool suits_ucx = discovery::has_rdma(devices) && seal.get() == "off";
    return wanted_engine.get() == "auto" && suits_ucx ? Engine::ucx : Engine::tcp;
}

bool host_has_rdma() {
    struct if_nameindex* const interfaces = if_nameindex();
    bool found = false;
    for (const struct if_nameindex* i = interfaces; i != nullptr && i->if_name != nullptr && !found; ++i)
        found = std::ranges::any_of(discovery::rdma_ports_of(i->if_name),
                                    [](const discovery::RdmaPort& port) { return port.error.empty(); });
    if (interfaces != nullptr) if_freenameindex(interfaces);
    return found;
}

std::string without_rdma(const std::string& devices) { return devices_of_kind(DeviceKind::tcp, devices); }

const char* name_of(Engine engine) { return engine == Engine::ucx ? "ucx" : "tcp"; }

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
    if (engine_for(settings.devices) == Engine::tcp) return open_tcp(settings, frames, why);
    if (seal.get() != "off") {
        why = "net.seal needs the engine tcp, and net.engine is ucx";
        return nullptr;
    }
    // UCX opens a TCP port, and reads what anyone sends there, only if it is given TCP interfaces.
    NetworkConfig of_engine = settings;
    const std::string kept = wanted_engine.get() == "auto"
                                 ? devices_of_kind(DeviceKind::rdma, settings.devices)
                                 : settings.devices;
    of_engine.devices = kept.c_str();
    return std::unique_ptr<FrameNetwork>(ucx::open_for_frames(of_engine, frames, why));
}

std::unique_ptr<DeviceProbe> new_probe(int world_rank, const auth::HandshakeKeys& keys) {
    return std::make_unique<discovery::TcpDeviceProbe>(world_rank, keys);
}

} // namespace zipmpi::transport
