// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recording.hpp"

#include "os/clock.hpp"

#include <cstdlib>

namespace zipmpi::trace {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;
constexpr uint64_t default_limit = 256 * mib;

const char* variable(const char* name) noexcept {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

uint32_t number(const char* name, uint32_t otherwise) noexcept {
    const char* const value = variable(name);
    return value != nullptr ? static_cast<uint32_t>(std::strtoul(value, nullptr, 10)) : otherwise;
}

} // namespace

Recording recording;

void Recording::begin() noexcept {
    if (active_) return;
    const char* const folder = variable("ZIPMPI_TRACE_DIR");
    const char* const job = variable("ZIPMPI_JOB_ID");
    self_ = {number("PMI_RANK", 0), number("PMI_SIZE", 1), job != nullptr ? job : "job"};
    const uint64_t limit = number("ZIPMPI_TRACE_LIMIT", 0) * mib;
    profiling_ = variable("ZIPMPI_PROFILE") != nullptr;
    if (folder != nullptr) file_.open(folder, self_, limit != 0 ? limit : default_limit);
    active_ = profiling_ || file_.is_open();
    start_ticks_ = ticks();
    start_ns_ = os::now_ns();
}

void Recording::end() noexcept {
    active_ = false;
    file_.close();
}

void Recording::fill(ProfileSums& sums, ProfileMaxima& maxima) const noexcept {
    const double seconds = static_cast<double>(os::now_ns() - start_ns_) / 1e9;
    const double per_tick = seconds / static_cast<double>(ticks() - start_ticks_);
    sums.run_seconds = maxima.run_seconds = seconds;
    sums.mpi_seconds = static_cast<double>(mpi_ticks_) * per_tick;
    const double share = seconds > 0 ? sums.mpi_seconds / seconds : 0;
    maxima.highest = share_and_rank(share, self_.rank);
    maxima.lowest = share_and_rank(1 - share, self_.rank);
    for (uint32_t id = 0; id <= names::function_count; ++id) {
        const FunctionUse& use = uses_[id];
        maxima.seconds[id] = static_cast<double>(use.ticks) * per_tick;
        sums.functions[id] = {static_cast<double>(use.calls), maxima.seconds[id],
                              static_cast<double>(use.bytes)};
    }
}

uint32_t Recording::name_comm(uint64_t group_hash) noexcept {
    uint32_t* const count = same_group_.insert(static_cast<uintptr_t>(group_hash));
    const uint64_t ordinal = count != nullptr ? ++*count : 0;
    const uint64_t mixed = (group_hash ^ (ordinal * 0x9e3779b97f4a7c15U)) * 0xff51afd7ed558ccdU;
    const auto id = static_cast<uint32_t>(mixed >> 32);
    return id < 16 ? id + 16 : id; // small numbers are names of predefined communicators
}

} // namespace zipmpi::trace
