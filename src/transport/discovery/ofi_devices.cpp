// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/discovery/ofi_devices.hpp"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <unistd.h>

namespace zipmpi::transport::discovery {
namespace {

std::vector<std::string> entries_of(const std::string& folder) {
    struct Closer {
        void operator()(DIR* d) const { closedir(d); }
    };
    const std::unique_ptr<DIR, Closer> open(opendir(folder.c_str()));
    std::vector<std::string> names;
    for (const dirent* e = open != nullptr ? readdir(open.get()) : nullptr; e != nullptr;
         e = readdir(open.get()))
        if (e->d_name[0] != '.') names.emplace_back(e->d_name);
    std::ranges::sort(names); // the same order in all processes
    return names;
}

std::string driver_of(const std::string& device_folder) {
    char target[256];
    const ssize_t n = readlink((device_folder + "/device/driver").c_str(), target, sizeof target);
    const std::string_view path(target, n > 0 ? static_cast<size_t>(n) : 0);
    return std::string(path.substr(path.rfind('/') + 1));
}

std::vector<std::string> device_names(const SysfsPaths& folders) {
    std::vector<std::string> names = entries_of(folders.sys + "/cxi");
    const std::string rdma = folders.sys + "/infiniband";
    for (const std::string& name : entries_of(rdma))
        if (const std::string driver = driver_of(rdma + "/" + name); driver == "efa" || driver == "hfi1")
            names.push_back(name);
    return names;
}

} // namespace

std::string ofi_devices(const SysfsPaths& folders) {
    std::string all;
    for (const std::string& name : device_names(folders)) all.append(all.empty() ? "" : ",").append(name);
    return all;
}

bool has_ofi_device(std::string_view devices, const SysfsPaths& folders) {
    return std::ranges::any_of(device_names(folders), [devices](const std::string& name) {
        return ("," + std::string(devices) + ",").find("," + name + ",") != std::string::npos;
    });
}

} // namespace zipmpi::transport::discovery
