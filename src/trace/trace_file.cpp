// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/trace_file.hpp"

#include "base/diagnostic.hpp"
#include "names/function_table.hpp"
#include "os/clock.hpp"
#include "trace/ticks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::trace {
namespace {

void set_time(wire::TraceClock& clock) noexcept {
    clock.ticks = ticks();
    clock.ns = os::now_ns();
}

} // namespace

bool TraceFile::open(const char* folder, const Identity& self, uint64_t limit_bytes) noexcept {
    const std::string path =
        std::string(folder) + "/" + self.job + "." + std::to_string(self.rank) + wire::trace_suffix;
    mkdir(folder, 0777); // exists already, unless this host has its own file system
    file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!is_open()) {
        report({"the trace file could not be created", path, std::strerror(errno),
                "name a directory of --trace that all ranks can write"});
        return false;
    }
    header_.magic = wire::trace_magic;
    header_.functions = names::function_count;
    header_.rank = self.rank;
    header_.ranks = self.ranks;
    header_.pid = static_cast<uint32_t>(getpid());
    std::snprintf(header_.job, sizeof header_.job, "%s", self.job);
    gethostname(header_.host, sizeof header_.host - 1);
    set_time(header_.first);
    room_ = limit_bytes / sizeof(wire::TraceRecord);
    write_header();
    return true;
}

void TraceFile::set_offset(int64_t ns) noexcept {
    if (!has_offset_) header_.first.offset_ns = ns;
    header_.last.offset_ns = ns;
    has_offset_ = true;
}

void TraceFile::write_header() noexcept {
    set_time(header_.last);
    if (pwrite(file_.get(), &header_, sizeof header_, 0) != static_cast<ssize_t>(sizeof header_)) room_ = 0;
}

void TraceFile::flush() noexcept {
    if (is_open() && header_.pid == static_cast<uint32_t>(getpid())) { // not in a forked child
        const size_t kept = static_cast<size_t>(std::min<uint64_t>(count_, room_));
        const auto bytes = static_cast<ssize_t>(kept * sizeof(wire::TraceRecord));
        const auto at = static_cast<off_t>(sizeof header_ + written_ * sizeof(wire::TraceRecord));
        const bool done = kept != 0 && pwrite(file_.get(), buffer_, static_cast<size_t>(bytes), at) == bytes;
        header_.dropped += count_ - (done ? kept : 0);
        written_ += done ? kept : 0;
        room_ = done ? room_ - kept : 0;
        write_header();
    }
    count_ = 0;
}

void TraceFile::close() noexcept {
    if (!is_open()) return;
    header_.complete = 1;
    flush();
    file_.reset();
}

} // namespace zipmpi::trace
