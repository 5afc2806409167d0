// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of the network interfaces that multi-host jobs use, and of the name of this host.
#include "doctor/doctor.hpp"

#include "os/host.hpp"

#include <ifaddrs.h>
#include <map>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

namespace zipmpi::tool {
namespace {

struct InterfaceInfo {
    bool loopback = false, up = false, running = false, address = false;
};

std::map<std::string, InterfaceInfo> interfaces() {
    std::map<std::string, InterfaceInfo> all;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return all;
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
        InterfaceInfo& entry = all[i->ifa_name];
        entry.loopback = (i->ifa_flags & IFF_LOOPBACK) != 0;
        entry.up = (i->ifa_flags & IFF_UP) != 0;
        entry.running = (i->ifa_flags & IFF_RUNNING) != 0;
        const int family = i->ifa_addr != nullptr ? i->ifa_addr->sa_family : AF_UNSPEC;
        entry.address = entry.address || family == AF_INET || family == AF_INET6;
    }
    freeifaddrs(list);
    return all;
}

void check_name(Findings& found) {
    addrinfo* list = nullptr;
    const std::string name = os::host_name();
    if (getaddrinfo(name.c_str(), nullptr, nullptr, &list) == 0) {
        freeaddrinfo(list);
        return;
    }
    found.push_back(
        {"host-name", "the name of this host, " + name + ", has no address",
         "ZipMPI resolves no names; other programs may be slow or fail (a line in /etc/hosts helps "
         "them)",
         "", true});
}

} // namespace

void check_network(bool several_hosts, Findings& found) {
    std::string usable, down;
    bool loopback = false;
    for (const auto& [name, i] : interfaces()) {
        if (i.loopback)
            loopback = loopback || (i.up && i.address);
        else if (i.up && i.running && i.address)
            usable += (usable.empty() ? "" : ", ") + name;
        else if (i.address)
            down += (down.empty() ? "" : ", ") + name;
    }
    if (!loopback)
        found.push_back({"loopback", "the loopback interface is down",
                         "PMIx, debuggers and tests use it for connections within this host",
                         "as root: ip link set lo up"});
    if (!down.empty())
        found.push_back({"link-down", "no link on " + down, "it has an address, but no cable or no peer",
                         "ip link set " + down +
                             " up, or check the cable; mpiexec tries all addresses and "
                             "uses those that respond",
                         !usable.empty() || !several_hosts});
    else if (usable.empty())
        found.push_back({"no-network", "no network interface except loopback has an address",
                         several_hosts ? "other hosts are not reachable" : "jobs run on this host only",
                         "as root: ip link set eth0 up and dhclient eth0; in a container: --network host",
                         !several_hosts});
    check_name(found);
}

} // namespace zipmpi::tool
