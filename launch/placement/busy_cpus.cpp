// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/busy_cpus.hpp"

#include "os/clock.hpp"
#include "os/fd.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t sample = 25'000'000; // ns: covers at least two ticks

std::string read_file(const char* path) {
    std::string text;
    const os::Fd fd(open(path, O_RDONLY | O_CLOEXEC));
    char buffer[16384];
    for (ssize_t n; fd && (n = read(fd.get(), buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(n));
    return text;
}

std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view first = line.substr(0, line.find(' '));
    line.remove_prefix(first.size());
    return first;
}

long long parse_number(std::string_view text) {
    long long n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return error == std::errc() && end == text.data() + text.size() ? n : -1;
}

} // namespace

std::vector<CpuTicks> parse_ticks(std::string_view text) {
    std::vector<CpuTicks> all;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view name = next_word(line);
        const long long cpu = name.starts_with("cpu") ? parse_number(name.substr(3)) : -1;
        if (cpu < 0 || cpu >= 1 << 14) continue;
        if (all.size() <= static_cast<size_t>(cpu)) all.resize(static_cast<size_t>(cpu) + 1);
        for (int i = 0; i < 8; ++i) { // user, nice, system, idle, iowait, irq, softirq, steal
            const auto n = static_cast<uint64_t>(std::max(parse_number(next_word(line)), 0LL));
            CpuTicks& c = all[static_cast<size_t>(cpu)];
            (i == 3 || i == 4 ? c.idle : c.used) += n;
        }
    }
    return all;
}

CpuList never_idle(const std::vector<CpuTicks>& before, const std::vector<CpuTicks>& after) {
    CpuList busy;
    for (size_t cpu = 0; cpu < std::min(before.size(), after.size()); ++cpu)
        if (after[cpu].idle == before[cpu].idle && after[cpu].used > before[cpu].used)
            busy.push_back(static_cast<int>(cpu));
    return busy;
}

uint32_t parse_running(std::string_view text) {
    for (int i = 0; i < 3; ++i) next_word(text);
    const std::string_view tasks = next_word(text);
    const long long running = parse_number(tasks.substr(0, tasks.find('/')));
    return running > 0 && running < UINT32_MAX ? static_cast<uint32_t>(running) : 0;
}

void BusyCpus::begin(uint32_t expected) {
    if (parse_running(read_file("/proc/loadavg")) <= expected + 1) return;
    before_ = parse_ticks(read_file("/proc/stat"));
    begun_ = os::now_ns();
}

CpuList BusyCpus::end() {
    if (before_.empty()) return {};
    if (const uint64_t now = os::now_ns(); now < begun_ + sample) {
        const timespec rest{0, static_cast<long>(begun_ + sample - now)};
        nanosleep(&rest, nullptr);
    }
    return never_idle(before_, parse_ticks(read_file("/proc/stat")));
}

} // namespace zipmpi::launch
