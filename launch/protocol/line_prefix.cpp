// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/line_prefix.hpp"

#include <cstdio>

namespace zipmpi::launch {
namespace {

std::string openmpi_label(const OutputPolicy& policy, uint32_t rank, int stream) {
    const bool labeled = policy.label == OutputPolicy::Label::rank;
    std::string label = labeled ? "[1," + std::to_string(rank) + "]" : "";
    if (labeled || policy.timestamps) label += stream == 0 ? "<stdout>:" : "<stderr>:";
    return label;
}

} // namespace

std::string time_stamp(LinePrefix::Stamp stamp, const timespec& at) {
    if (stamp == LinePrefix::Stamp::none) return {};
    const bool iso = stamp == LinePrefix::Stamp::iso;
    tm local{};
    localtime_r(&at.tv_sec, &local);
    char text[64];
    size_t n = strftime(text, sizeof text, iso ? "%Y-%m-%d %H:%M:%S" : "%a %b %e %H:%M:%S %Y", &local);
    if (iso)
        n += static_cast<size_t>(std::snprintf(text + n, sizeof text - n, ".%03ld ", at.tv_nsec / 1'000'000));
    return {text, n};
}

void LinePrefix::append_to(std::string& out) const {
    if (stamp != Stamp::none) {
        timespec now{};
        clock_gettime(CLOCK_REALTIME, &now);
        out += time_stamp(stamp, now);
    }
    out += label;
}

LinePrefix prefix_of(const OutputPolicy& policy, const PatternValues& values, int stream) {
    LinePrefix prefix;
    if (policy.label == OutputPolicy::Label::fold) return prefix;
    const bool openmpi = policy.tag == OutputPolicy::Tag::openmpi;
    if (policy.timestamps) prefix.stamp = openmpi ? LinePrefix::Stamp::openmpi : LinePrefix::Stamp::iso;
    if (openmpi)
        prefix.label = openmpi_label(policy, values.rank, stream);
    else if (policy.label == OutputPolicy::Label::none)
        prefix.label.clear();
    else if (policy.tag == OutputPolicy::Tag::pattern)
        expand(policy.tag_pattern, values, prefix.label);
    else
        prefix.label = "[" + std::to_string(values.rank) + "] ";
    return prefix;
}

} // namespace zipmpi::launch
