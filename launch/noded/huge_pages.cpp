// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/huge_pages.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

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

HugePageSupport read_huge_page_support() {
    HugePageSupport found;
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::getline(file, found.mode);
    found.available_bytes = available_memory();
    return found;
}

bool should_use_huge_pages(std::string_view setting, const HugePageSupport& support, size_t ranks) {
    if (setting != "auto") return setting == "yes";
    return support.mode.find("[madvise]") != std::string::npos &&
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
