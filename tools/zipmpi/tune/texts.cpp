// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/tune.hpp"

#include "base/param.hpp"
#include "proto/select/costs_file.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

using proto::Path;

std::string bytes_text(uint64_t bytes) {
    if (bytes == UINT64_MAX) return "none";
    if (bytes >= 64 * KiB) return fmt::format("{} KiB", bytes / KiB);
    return fmt::format("{} B", bytes);
}

std::string time_text(double ns) {
    return ns < 1000 ? fmt::format("{:.0f} ns", ns) : fmt::format("{:.2f} us", ns / 1000);
}

// Two paths at one size, with both states of the source.
std::string why(uint64_t bytes, Path one, const proto::PathCost& first, Path other,
                const proto::PathCost& second) {

    return fmt::format("at {}: {} {} fresh, {} kept; {} {} fresh, {} kept", bytes_text(bytes), name(one),
                       time_text(nanoseconds(first.fresh, bytes)), time_text(nanoseconds(first.kept, bytes)),
                       name(other), time_text(nanoseconds(second.fresh, bytes)),
                       time_text(nanoseconds(second.kept, bytes)));
}

std::string change(const char* what, uint64_t before, uint64_t after, const std::string& reason) {
    if (before == after) return fmt::format("  {:<15}{} as built in\n", what, bytes_text(after));
    return fmt::format("  {:<15}{}, built in {}\n{:17}{}\n", what, bytes_text(after), bytes_text(before), "",
                       reason);
}

std::string changes_of(const Measurement& m, uint64_t cell_bytes) {
    const proto::PairCosts& c = m.costs;
    const proto::Thresholds before = thresholds_from(proto::built_in_costs(m.where.pair), cell_bytes);
    const proto::Thresholds after = thresholds_from(c, cell_bytes);
    std::string out =
        fmt::format("\n{} (CPUs {} and {}): {} for one line, {} rounds, spread {:.0f} %, curves off by at "
                    "most {:.0f} %\n",
                    topo::name(m.where.pair), m.where.first, m.where.second,
                    time_text(static_cast<double>(c.line_ns)), m.rounds, m.spread * 100, m.misfit * 100);
    if (!m.kernel_copies)
        out += "  the kernel refuses to copy between processes here (`zipmpi info` says why): built-in costs "
               "of kernel and joint copies\n";
    const auto kernel_at = [&](uint64_t bytes) {
        return why(std::min<uint64_t>(bytes, 4 * MiB), Path::kernel, c.kernel, Path::fragments, c.fragments);
    };
    out += change("eager_limit", before.eager_limit, after.eager_limit,
                  why(after.eager_limit, Path::cell, c.cell, Path::kernel, c.kernel));
    out += change("kcopy_min", before.kcopy_min, after.kcopy_min, kernel_at(after.kcopy_min));
    out += change("kcopy_max", before.kcopy_max, after.kcopy_max, kernel_at(after.kcopy_max));
    const auto joint_at = [&](uint64_t bytes) {
        return why(std::min<uint64_t>(bytes, 4 * MiB), Path::joint, c.joint, Path::kernel, c.kernel);
    };
    out += change("joint_min", before.joint_min, after.joint_min, joint_at(after.joint_min));
    out += change("joint_max", before.joint_max, after.joint_max, joint_at(after.joint_max));
    out += change(
        "direct_min", before.direct_min, after.direct_min,
        why(std::min<uint64_t>(after.direct_min, 4 * MiB), Path::direct, c.direct, Path::cell, c.cell));
    out +=
        change("fragment_bytes", before.fragment_bytes, after.fragment_bytes, "best for 256 KiB and 1 MiB");
    out += change("window_bytes", before.window_bytes, after.window_bytes,
                  "the least that is within 3 % of the best for 256 KiB and 1 MiB");
    return out;
}

} // namespace

std::string changes_text(const std::vector<Measurement>& all, uint64_t cell_bytes) {
    std::string out;
    for (const Measurement& m : all) out += changes_of(m, cell_bytes);
    return out;
}

std::string costs_file_text(const std::vector<Measurement>& all, const std::string& host) {
    std::string out =
        fmt::format("# What messages cost between ranks of {}, measured by `zipmpi tune`; "
                    "docs/guide/tuning.md explains it.\n"
                    "# Lines name = number; a class or constant that is missing has its built-in value.\n"
                    "# _ns: nanoseconds, _ps: picoseconds per byte; cached_bytes: where a curve bends.\n"
                    "# fresh: the sender has just written its buffer; kept: it sends the same bytes again.\n"
                    "format = {}\n",
                    host, proto::costs_format);
    for (const Measurement& m : all) {
        out += fmt::format("\n# {}: CPUs {} and {}, median of {} rounds, spread {:.1f} %\n{}",
                           topo::name(m.where.pair), m.where.first, m.where.second, m.rounds, m.spread * 100,
                           m.detail);
        if (!m.kernel_copies) out += "# the kernel refuses to copy: what is said of it is built in\n";
        proto::each_constant(m.costs, [&](const char* constant, const uint64_t& value) {
            out += fmt::format("{}.{} = {}\n", topo::name(m.where.pair), constant, value);
        });
    }
    return out;
}

} // namespace zipmpi::tool
