// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/huge_pages.hpp"

#include "os/text_file.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <system_error>

namespace zipmpi::launch {
namespace {

constexpr uint64_t least_bytes_per_rank = uint64_t{256} << 20;
constexpr std::string_view variable = "GLIBC_TUNABLES=";
constexpr std::string_view tunable = "glibc.malloc.hugetlb";

uint64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    uint64_t kib = 0;
    while (file >> name >> kib) {
        if (name == "MemAvailable:") return kib * 1024;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

} // namespace

bool returns_free_pages(const std::filesystem::path& folder) {
    constexpr size_t free_page_reporting = 5; // VIRTIO_BALLOON_F_REPORTING; the text has bit 0 first
    std::error_code error;
    for (std::filesystem::directory_iterator device(folder, error), end; device != end;
         device.increment(error)) {
        const std::string features = os::first_line(device->path() / "features");
        if (os::first_line(device->path() / "device") == "0x0005" && // memory balloon
            features.size() > free_page_reporting && features[free_page_reporting] == '1')
            return true;
    }
    return false;
}

HugePageSupport read_huge_page_support() {
    HugePageSupport found;
    found.mode = os::first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    found.available_bytes = available_memory();
    found.returns_free_pages = returns_free_pages("/sys/bus/virtio/devices");
    return found;
}

bool should_use_huge_pages(std::string_view setting, const HugePageSupport& support, size_t ranks) {
    if (setting != "auto") return setting == "yes";
    return support.mode.find("[madvise]") != std::string::npos && !support.returns_free_pages &&
           support.available_bytes / std::max<size_t>(ranks, 1) >= least_bytes_per_rank;
}

void add_huge_pages(std::vector<std::string>& environment) {
    const std::string request = std::string(tunable) + "=1";
    const auto present = std::find_if(environment.begin(), environment.end(),
                                      [](const std::string& v) { return v.starts_with(variable); });
    if (present == environment.end())
        environment.push_back(std::string(variable) + request);
    else if (present->find(tunable) == std::string::npos)
        *present += (present->size() > variable.size() ? ":" : "") + request;
}

} // namespace zipmpi::launch
