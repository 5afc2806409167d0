// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/discovery/rdma_ports.hpp"

#include "os/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace zipmpi::transport::discovery {
namespace {

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    DIR* all = opendir(folder.c_str());
    if (all == nullptr) return names;
    while (const dirent* entry = readdir(all))
        if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    closedir(all);
    std::sort(names.begin(), names.end());
    return names;
}

// RoCE: each GID of a port names its interface. There are up to a thousand entries, filled from the front;
// scanning stops after some empty ones.
bool has_address_on(const std::string& port, const std::string& interface) {
    constexpr int most_empty = 8; // consecutive
    int empty = 0;
    for (int number = 0; empty < most_empty; ++number) {
        const std::string name = os::first_line(port + "/gid_attrs/ndevs/" + std::to_string(number));
        if (name == interface) return true;
        empty = name.empty() ? empty + 1 : 0;
    }
    return false;
}

// IP over InfiniBand: the interface is a child of the device and has its port number, from 0.
bool is_child(const std::string& device, const std::string& port, const std::string& interface,
              const std::string& sys) {
    const std::string net = sys + "/net/" + interface;
    if (access((net + "/device/infiniband/" + device).c_str(), F_OK) != 0) return false;
    const std::string number = os::first_line(net + "/dev_port");
    return !number.empty() && std::to_string(std::strtol(number.c_str(), nullptr, 10) + 1) == port;
}

// Checks the device file.
std::string device_file_error(const std::string& device, const SysfsPaths& folders) {
    const std::string all = folders.sys + "/infiniband_verbs/";
    for (const std::string& name : names_in(all)) {
        if (os::first_line(all + name + "/ibdev") != device) continue;
        const std::string file = folders.dev + "/" + name;
        const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0) return file + ": " + std::strerror(errno);
        close(fd);
        return {};
    }
    return "it has no verbs device file";
}

// RDMA needs locked memory. The mapping is not touched, so no memory is used.
std::string memlock_error() {
    constexpr size_t enough = size_t{1} << 30;
    void* memory =
        mmap(nullptr, enough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return {};
    const bool locked = mlock2(memory, enough, MLOCK_ONFAULT) == 0;
    munmap(memory, enough);
    return locked ? "" : "the limit for locked memory is too low (ulimit -l)";
}

} // namespace

std::vector<RdmaPort> rdma_ports_of(const std::string& interface, const SysfsPaths& folders) {
    std::vector<RdmaPort> found;
    const std::string devices = folders.sys + "/infiniband";
    for (const std::string& device : names_in(devices)) {
        const std::string ports = devices + "/" + device + "/ports";
        for (const std::string& port : names_in(ports)) {
            const std::string folder = ports + "/" + port;
            if (os::first_line(folder + "/state").find("ACTIVE") == std::string::npos) continue;
            if (!has_address_on(folder, interface) && !is_child(device, port, interface, folders.sys))
                continue;
            std::string trouble = device_file_error(device, folders);
            if (trouble.empty()) trouble = memlock_error();
            found.push_back({device + ":" + port, trouble});
        }
    }
    return found;
}

bool is_emulated(std::string_view port, const SysfsPaths& folders) {
    const std::string device(port.substr(0, port.find(':')));
    return access((folders.sys + "/infiniband/" + device + "/parent").c_str(), F_OK) == 0;
}

} // namespace zipmpi::transport::discovery
