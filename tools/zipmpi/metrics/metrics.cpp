// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "metrics/metrics.hpp"

#include "base/counters.hpp"
#include "base/diagnostic.hpp"
#include "launch/report/read_segment.hpp"
#include "os/fd.hpp"
#include "top/local_job.hpp"
#include "top/rank_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

constexpr uint32_t most_ranks = 1024;
constexpr int request_timeout_ms = 1000;
constexpr const char* content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";

enum class Labels : uint8_t { job, rank };

struct Row {
    std::string labels;
    Counters totals{};
};

std::string labels_of(const WatchedJob& job) {
    return fmt::format("job=\"{}\",node=\"{}\"", job.id, job.segment.header().node);
}

std::vector<Row> rows_of(const WatchedJob& job, Labels labels) {
    const bool per_rank = labels == Labels::rank;
    std::vector<Row> rows;
    for (uint32_t i = 0; i < job.segment.local_ranks(); ++i) {
        if (per_rank && i < most_ranks)
            rows.push_back({fmt::format("{},rank=\"{}\"", labels_of(job), job.segment.world_rank(i)), {}});
        else if (rows.empty() || (per_rank && i == most_ranks))
            rows.push_back({labels_of(job) + (per_rank ? ",rank=\"others\"" : ""), {}});
        const Counters& from = job.segment.block(i).counters;
        for (size_t c = 0; c < std::size(counter_infos); ++c)
            rows.back().totals.value[c] += std::atomic_ref(const_cast<uint64_t&>(from.value[c])).load();
    }
    return rows;
}

std::string counter_text(size_t counter, const std::vector<Row>& rows) {
    const CounterInfo& info = counter_infos[counter];
    const bool level = counter == static_cast<size_t>(Counter::unexpected_length);
    std::string text = fmt::format("# TYPE zipmpi_{0} {1}\n# HELP zipmpi_{0} {2}.\n", info.name,
                                   level ? "gauge" : "counter", info.text);
    for (const Row& row : rows)
        text += fmt::format("zipmpi_{}{}{{{}}} {}\n", info.name, level ? "" : "_total", row.labels,
                            row.totals.value[counter]);
    return text;
}

std::string states_text(const std::vector<std::unique_ptr<WatchedJob>>& jobs) {
    std::string text = "# TYPE zipmpi_ranks gauge\n# HELP zipmpi_ranks Ranks on this node by state.\n";
    for (const auto& job : jobs) {
        std::map<std::string, uint32_t> states{{"computing", 0}, {"in MPI", 0}, {"waiting", 0}};
        for (uint32_t i = 0; i < job->segment.local_ranks(); ++i) {
            const launch::RankSnapshot s = launch::read_rank_snapshot(job->segment, i);
            ++states[make_row(s, {}, {}, 1).state];
        }
        for (const auto& [state, count] : states)
            text += fmt::format("zipmpi_ranks{{{},state=\"{}\"}} {}\n", labels_of(*job), state, count);
    }
    return text;
}

// Sums over the ranks of a job, or with a label for each rank.
std::string metrics_text(Labels labels) {
    const std::vector<std::unique_ptr<WatchedJob>> jobs = find_jobs({});
    std::vector<Row> rows;
    for (const auto& job : jobs) std::ranges::move(rows_of(*job, labels), std::back_inserter(rows));
    std::string text = states_text(jobs);
    for (size_t c = 0; c < std::size(counter_infos); ++c) text += counter_text(c, rows);
    return text + "# EOF\n";
}

int fail(const char* what, const std::string& where) {
    report({what, where, std::strerror(errno), "choose another file or port"}, "zipmpi");
    return 1;
}

bool write_file(const std::string& path, const std::string& text) {
    const std::string part = path + ".part";
    FILE* const file = std::fopen(part.c_str(), "we");
    if (file == nullptr) return false;
    const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && good && std::rename(part.c_str(), path.c_str()) == 0;
}

// One request: whatever it asks for, the reply is the metrics.
void serve(int client, Labels labels) {
    char request[4096];
    pollfd p{client, POLLIN, 0};
    if (poll(&p, 1, request_timeout_ms) <= 0 || recv(client, request, sizeof request, 0) <= 0) return;
    const std::string text = metrics_text(labels);
    const std::string reply = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        content_type, text.size(), text);
    for (size_t sent = 0; sent < reply.size();) {
        const ssize_t n = send(client, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += static_cast<size_t>(n);
    }
    shutdown(client, SHUT_WR);
}

int run_server(uint16_t port, Labels labels) {
    const std::string where = "127.0.0.1:" + std::to_string(port);
    const os::Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int reuse = 1;
    setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener.get(), 16) != 0)
        return fail("the port cannot be used", where);
    while (true) {
        const os::Fd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        const timeval limit{1, 0};
        if (!client) continue;
        setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        serve(client.get(), labels);
    }
}

} // namespace

int run_metrics(const MetricsOptions& o) {
    const Labels labels = o.per_rank ? Labels::rank : Labels::job;
    if (o.port != 0) return run_server(o.port, labels);
    while (true) {
        const std::string text = metrics_text(labels);
        if (o.output.empty())
            std::fwrite(text.data(), 1, text.size(), stdout);
        else if (!write_file(o.output, text))
            return fail("the metrics could not be written", o.output);
        if (o.interval <= 0) return 0;
        usleep(static_cast<useconds_t>(o.interval * 1e6));
    }
}

} // namespace zipmpi::tool
