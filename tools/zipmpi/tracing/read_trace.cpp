// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/trace_data.hpp"

#include "names/function_table.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace zipmpi::tool {
namespace {

namespace fs = std::filesystem;
using wire::TraceHeader;
using wire::TraceRecord;

struct FileCloser {
    void operator()(FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<FILE, FileCloser>;

struct TraceFile {
    std::string path;
    TraceHeader header;
};

std::string text_of(const char* field, size_t size) { return {field, strnlen(field, size)}; }
std::string job_of(const TraceHeader& h) { return text_of(h.job, sizeof h.job); }

bool read_header(const std::string& path, TraceHeader& out) {
    const File file(std::fopen(path.c_str(), "rbe"));
    return file != nullptr && std::fread(&out, sizeof out, 1, file.get()) == 1 &&
           out.magic == wire::trace_magic;
}

// Ticks as nanoseconds on the clock of rank 0. The clocks of hosts drift: offset and rate are those of a line
// between the two measurements.
class Clock {
  public:
    explicit Clock(const TraceHeader& h)
        : first_(h.first) {
        const auto ticks = static_cast<double>(h.last.ticks - h.first.ticks);
        const auto ns = static_cast<double>(h.last.ns - h.first.ns);
        const auto drift = static_cast<double>(h.last.offset_ns - h.first.offset_ns);
        rate_ = ticks > 0 ? (ns + drift) / ticks : 1;
    }
    [[nodiscard]] int64_t ns(uint64_t ticks) const {
        const auto distance = static_cast<double>(static_cast<int64_t>(ticks - first_.ticks));
        return static_cast<int64_t>(first_.ns) + first_.offset_ns + static_cast<int64_t>(distance * rate_);
    }

  private:
    wire::TraceClock first_;
    double rate_;
};

TraceEvent event_of(const TraceRecord& r, const Clock& clock) {
    const int64_t start = clock.ns(r.start);
    return {start,      std::max(clock.ns(r.end), start + 1), r.bytes, r.comm, r.peer, r.tag,
            r.function, static_cast<wire::TraceKind>(r.kind)};
}

RankTrace read_rank(const TraceFile& from) {
    const TraceHeader& h = from.header;
    const Clock clock(h);
    RankTrace rank{h.rank,    h.pid,       text_of(h.host, sizeof h.host), h.complete == 1,
                   h.dropped, h.untracked, clock.ns(h.first.ticks),        clock.ns(h.last.ticks),
                   {}};
    const File file(std::fopen(from.path.c_str(), "rbe"));
    if (file == nullptr || std::fseek(file.get(), sizeof h, SEEK_SET) != 0) return rank;
    std::vector<TraceRecord> part(4096);
    for (size_t n = 0; (n = std::fread(part.data(), sizeof(TraceRecord), part.size(), file.get())) > 0;)
        for (size_t i = 0; i < n; ++i) {
            rank.events.push_back(event_of(part[i], clock));
            rank.end = std::max(rank.end, rank.events.back().end);
        }
    return rank;
}

std::vector<TraceFile> find_files(const std::string& folder) {
    std::vector<TraceFile> files;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
        TraceFile file{entry.path().string(), {}};
        if (entry.path().extension() == wire::trace_suffix && read_header(file.path, file.header))
            files.push_back(std::move(file));
    }
    return files;
}

// The job whose file was written last.
std::string latest_job(const std::vector<TraceFile>& files) {
    std::string job;
    fs::file_time_type latest = fs::file_time_type::min();
    std::error_code failed;
    for (const TraceFile& f : files)
        if (const auto time = fs::last_write_time(f.path, failed); time > latest) {
            latest = time;
            job = job_of(f.header);
        }
    return job;
}

} // namespace

bool read_trace(const std::string& folder, const std::string& job, Trace& out, Diagnostic& why) {
    const std::vector<TraceFile> files = find_files(folder);
    out.job = job.empty() ? latest_job(files) : job;
    for (const TraceFile& f : files) {
        if (job_of(f.header) != out.job) continue;
        if (f.header.functions != names::function_count) {
            why = {"the trace was written by another version", f.path,
                   "its functions have other numbers than those of this zipmpi",
                   "use the zipmpi of the installation that ran the job"};
            return false;
        }
        out.world_size = f.header.ranks;
        out.ranks.push_back(read_rank(f));
    }
    if (out.ranks.empty()) {
        why = {"no trace was found", folder,
               job.empty() ? "there is no file JOB.RANK.trace" : "there is no file of job " + job,
               "write one with mpiexec --trace DIR; with several hosts copy all files to one directory"};
        return false;
    }
    const auto by_rank = [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; };
    std::sort(out.ranks.begin(), out.ranks.end(), by_rank);
    int64_t begin = INT64_MAX;
    for (const RankTrace& r : out.ranks) begin = std::min(begin, r.begin);
    for (RankTrace& r : out.ranks) {
        r.begin -= begin;
        r.end -= begin;
        out.duration = std::max(out.duration, r.end);
        for (TraceEvent& e : r.events) {
            e.start -= begin;
            e.end -= begin;
            if (e.function > names::function_count) e.function = 0;
        }
    }
    return true;
}

} // namespace zipmpi::tool
