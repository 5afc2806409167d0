// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/costs_file.hpp"

#include "base/param.hpp"
#include "base/settings_file.hpp"
#include "os/host.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace zipmpi::proto {
namespace {

Param<std::string> tune_file{"tune.file",
                             "",
                             nullptr,
                             Level::user,
                             Scope::local,
                             "cost file written by `zipmpi tune`; empty: that of this user and host, else "
                             "that of the installation; none: built-in costs"};

constexpr uint64_t largest_constant = uint64_t{1} << 40; // larger values are typing errors

// Sets a constant by name. Returns false if there is no such constant.
bool set_constant(NodeCosts& costs, std::string_view name, uint64_t value) {
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    for (size_t i = 0; i < hwtopo::pair_classes; ++i) {
        if (name.substr(0, dot) != hwtopo::name(static_cast<PairClass>(i))) continue;
        bool found = false;
        each_constant(costs.pair[i], [&](const char* constant, uint64_t& at) {
            if (name.substr(dot + 1) != constant) return;
            at = value;
            found = true;
        });
        costs.measured[i] = costs.measured[i] || found;
        return found;
    }
    return false;
}

} // namespace

NodeCosts::NodeCosts() {
    for (size_t i = 0; i < hwtopo::pair_classes; ++i) pair[i] = built_in_costs(static_cast<PairClass>(i));
}

std::vector<std::string> costs_file_paths() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    std::vector<std::string> paths;
    const std::string file = "/zipmpi/tune-" + os::host_name() + ".toml";
    if (config != nullptr && config[0] == '/')
        paths.push_back(config + file);
    else if (home != nullptr && home[0] == '/')
        paths.push_back(std::string(home) + "/.config" + file);
    paths.emplace_back(ZIPMPI_SYSCONF_DIR "/zipmpi/tune.toml");
    return paths;
}

bool load_costs_from(const std::string& path, NodeCosts& costs) {
    std::vector<Setting> settings;
    if (!read_settings(path.c_str(), settings)) return false;
    costs.file = path;
    costs.format = 1;
    for (const Setting& s : settings) {
        uint64_t value = 0;
        const char* end = s.value.data() + s.value.size();
        const auto [stop, error] = std::from_chars(s.value.data(), end, value);
        if (s.name == "format" && error == std::errc() && stop == end) {
            costs.format = value;
            continue;
        }
        const char* fault = s.name.empty()                        ? "not of the form name = number"
                            : error != std::errc() || stop != end ? "not a whole number"
                            : value > largest_constant            ? "too large"
                            : costs.format != costs_format
                                ? "in a file format that this version does not read"
                            : !set_constant(costs, s.name, value) ? "no constant has this name"
                                                                  : nullptr;
        if (fault != nullptr)
            costs.faults.push_back("line " + std::to_string(s.line) + ": " +
                                   (s.name.empty() ? s.value : s.name) + ": " + fault);
    }
    return true;
}

bool load_costs(NodeCosts& costs) {
    if (tune_file.get() == "none") return true;
    if (!tune_file.get().empty()) return load_costs_from(tune_file.get(), costs);
    for (const std::string& path : costs_file_paths())
        if (access(path.c_str(), R_OK) == 0) return load_costs_from(path, costs);
    return true;
}

} // namespace zipmpi::proto
