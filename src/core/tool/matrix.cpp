// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/matrix.hpp"

#include "base/param.hpp"
#include "core/comm/link.hpp"
#include "core/state.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace zipmpi::core::tool {
namespace {

Param<std::string> matrix_file{
    "matrix.file",    "",
    nullptr,          Level::user,
    Scope::all_equal, "file that rank 0 writes the communication matrix to in MPI_Finalize; empty: none",
    Changes::any_time};

void add_line(std::string& text, int from, const boot::Sent& s) {
    char line[160];
    std::snprintf(line, sizeof line, "%d %d %llu %llu %llu %llu\n", from, s.to,
                  static_cast<unsigned long long>(s.point_to_point.messages),
                  static_cast<unsigned long long>(s.point_to_point.bytes),
                  static_cast<unsigned long long>(s.collective.messages),
                  static_cast<unsigned long long>(s.collective.bytes));
    text += line;
}

bool receive_row(const Link& link, int from, std::vector<boot::Sent>& row) {
    uint64_t peers = 0;
    if (link.recv(from, &peers, sizeof peers) != Err::success) return false;
    row.resize(peers);
    return peers == 0 || link.recv(from, row.data(), peers * sizeof(boot::Sent)) == Err::success;
}

void send_row(const Link& link, const std::vector<boot::Sent>& row) {
    const uint64_t peers = row.size();
    if (link.send(0, &peers, sizeof peers) != Err::success || peers == 0)
        return; // nobody is there to be told
    static_cast<void>(link.send(0, row.data(), peers * sizeof(boot::Sent)));
}

bool write_file(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

} // namespace

std::string matrix_text(std::vector<MatrixRow>& rows) {
    std::string text =
        "zipmpi-matrix 1\nranks " + std::to_string(rows.size()) +
        "\n# counted by senders; what ranks of a host do together in shared memory is no message\n"
        "# from to messages bytes coll_messages coll_bytes\n";
    for (size_t r = 0; r < rows.size(); ++r)
        if (!rows[r].there) text += "# rank " + std::to_string(r) + " is missing\n";
    for (size_t r = 0; r < rows.size(); ++r) {
        auto& sent = rows[r].sent;
        std::sort(sent.begin(), sent.end(),
                  [](const boot::Sent& a, const boot::Sent& b) { return a.to < b.to; });
        for (const boot::Sent& s : sent) add_line(text, static_cast<int>(r), s);
    }
    return text;
}

void write_matrix(Engine& engine) {
    const std::string& path = matrix_file.get();
    if (path.empty()) return;
    const boot::TrafficReader reader(engine.segment); // before the messages that carry it
    const std::vector<boot::Sent> own = reader.row(static_cast<uint32_t>(engine.job.local_index));
    const Link link = Link::collective(engine.world->team);
    if (engine.job.rank != 0) return send_row(link, own);
    std::vector<MatrixRow> rows(static_cast<size_t>(engine.job.size));
    rows[0] = {true, own};
    for (int r = 1; r < engine.job.size; ++r) {
        MatrixRow& row = rows[static_cast<size_t>(r)];
        row.there = receive_row(link, r, row.sent);
        if (!row.there) row.sent.clear();
    }
    if (!write_file(path, matrix_text(rows)))
        report({"the communication matrix is not written", "rank 0, host " + os::host_name(),
                path + ": " + std::strerror(errno), "correct ZIPMPI_MATRIX_FILE"});
}

} // namespace zipmpi::core::tool
