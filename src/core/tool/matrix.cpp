// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/matrix.hpp"

#include "base/param.hpp"
#include "core/comm/control_channel.hpp"
#include "core/runtime_state.hpp"
#include "os/host.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/p2p/traffic_counter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace zipmpi::core::tool {
namespace {

Param<std::string> matrix_file{
    "matrix.file",
    "",
    nullptr,
    Level::user,
    Scope::job_wide,
    "file for the communication matrix, written by rank 0 in MPI_Finalize; empty: none",
    Mutability::runtime};

void add_line(std::string& text, int from, const segment::PeerTotals& s) {
    char line[160];
    std::snprintf(line, sizeof line, "%d %d %llu %llu %llu %llu\n", from, s.to,
                  static_cast<unsigned long long>(s.point_to_point.messages),
                  static_cast<unsigned long long>(s.point_to_point.bytes),
                  static_cast<unsigned long long>(s.collective.messages),
                  static_cast<unsigned long long>(s.collective.bytes));
    text += line;
}

bool receive_row(const ControlChannel& channel, int from, std::vector<segment::PeerTotals>& row) {
    uint64_t peers = 0;
    if (channel.recv(from, &peers, sizeof peers) != Err::success) return false;
    row.resize(peers);
    return peers == 0 || channel.recv(from, row.data(), peers * sizeof(segment::PeerTotals)) == Err::success;
}

void send_row(const ControlChannel& channel, const std::vector<segment::PeerTotals>& row) {
    const uint64_t peers = row.size();
    if (channel.send(0, &peers, sizeof peers) != Err::success || peers == 0)
        return; // there is no caller to report an error to
    static_cast<void>(channel.send(0, row.data(), peers * sizeof(segment::PeerTotals)));
}

SizeCounts own_sizes(const Runtime& runtime) {
    SizeCounts sizes{};
    for (uint32_t i = 0; i < sizes.size(); ++i)
        sizes[i] = runtime.progress_engine->counters().get(size_histogram::counter(i));
    return sizes;
}

// Adds the sizes of a rank, which follow its row.
bool receive_sizes(const ControlChannel& channel, int from, SizeCounts& total) {
    SizeCounts sizes{};
    if (channel.recv(from, sizes.data(), sizeof sizes) != Err::success) return false;
    for (uint32_t i = 0; i < sizes.size(); ++i) total[i] += sizes[i];
    return true;
}

bool write_file(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

} // namespace

std::string matrix_text(std::vector<MatrixRow>& rows, const SizeCounts& sizes) {
    std::string text = "zipmpi-matrix 1\nranks " + std::to_string(rows.size()) +
                       "\n# counted by senders; collectives in shared memory send no messages\n"
                       "# from to messages bytes coll_messages coll_bytes\n";
    for (size_t r = 0; r < rows.size(); ++r)
        if (!rows[r].present) text += "# rank " + std::to_string(r) + " is missing\n";
    for (size_t r = 0; r < rows.size(); ++r) {
        auto& sent = rows[r].sent;
        std::sort(sent.begin(), sent.end(),
                  [](const segment::PeerTotals& a, const segment::PeerTotals& b) { return a.to < b.to; });
        for (const segment::PeerTotals& s : sent) add_line(text, static_cast<int>(r), s);
    }
    for (uint32_t i = 0; i < sizes.size(); ++i)
        if (sizes[i] != 0)
            text += "# size " + std::to_string(size_histogram::smallest(i)) + " " + std::to_string(sizes[i]) +
                    "\n";
    return text;
}

void write_matrix(Runtime& runtime) {
    const std::string& path = matrix_file.get();
    if (path.empty()) return;
    const segment::TrafficReader reader(runtime.segment); // before the messages that carry it
    const std::vector<segment::PeerTotals> own = reader.row(static_cast<uint32_t>(runtime.job.local_index));
    SizeCounts sizes = own_sizes(runtime);
    const bool with_sizes = proto::TrafficCounter::counts_sizes();
    const ControlChannel channel = ControlChannel::collective(runtime.world->team);
    if (runtime.job.rank != 0) {
        send_row(channel, own);
        if (with_sizes) static_cast<void>(channel.send(0, sizes.data(), sizeof sizes));
        return;
    }
    std::vector<MatrixRow> rows(static_cast<size_t>(runtime.job.size));
    rows[0] = {true, own};
    for (int r = 1; r < runtime.job.size; ++r) {
        MatrixRow& row = rows[static_cast<size_t>(r)];
        row.present = receive_row(channel, r, row.sent);
        if (!row.present) row.sent.clear();
        if (with_sizes && row.present) row.present = receive_sizes(channel, r, sizes);
    }
    if (!write_file(path, matrix_text(rows, sizes)))
        report({"the communication matrix cannot be written", "rank 0, host " + os::host_name(),
                path + ": " + std::strerror(errno), "correct ZIPMPI_MATRIX_FILE"});
}

} // namespace zipmpi::core::tool
