// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/fake_launcher.hpp"

#include "boot/pmi_connection.hpp"

#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>

namespace zipmpi::boot {

FakeLauncher::FakeLauncher(int size, FakeBehavior behavior)
    : FakeLauncher(size, std::move(behavior), later) {
    begin();
}

FakeLauncher::FakeLauncher(int size, FakeBehavior behavior, Later)
    : behavior_(std::move(behavior)) {
    if (behavior_.mapping_text.empty())
        behavior_.mapping_text = "(vector,(0,1," + std::to_string(size) + "))";
    for (int i = 0; i < size; ++i) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) std::abort();
        servers_.push_back({os::Fd(pair[0]), false, {}});
        clients_.emplace_back(pair[1]);
    }
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    stop_read_.reset(ends[0]);
    stop_write_.reset(ends[1]);
}

void FakeLauncher::begin() {
    thread_ = std::thread([this] { serve(); });
}

FakeLauncher::~FakeLauncher() { stop(); }

void FakeLauncher::stop() {
    stop_write_.reset();
    if (thread_.joinable()) thread_.join();
}

void FakeLauncher::serve() {
    for (;;) {
        std::vector<pollfd> polled{{stop_read_.get(), POLLIN, 0}};
        for (const auto& s : servers_) polled.push_back({s.fd.get(), POLLIN, 0}); // -1 is skipped by poll
        poll(polled.data(), polled.size(), -1);
        for (size_t i = 0; i < servers_.size(); ++i) {
            if (polled[i + 1].revents == 0) continue;
            char buffer[4096];
            const ssize_t n = recv(servers_[i].fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
            if (n <= 0) {
                servers_[i].fd.reset();
                continue;
            }
            servers_[i].bytes.append(buffer, static_cast<size_t>(n));
            std::string command;
            while (next_command(servers_[i], command)) handle(static_cast<int>(i), command);
        }
        if (polled[0].revents != 0) return;
    }
}

bool FakeLauncher::next_command(FakeConnection& c, std::string& command) {
    const size_t head = c.frames ? 6 : 0;
    size_t end = c.bytes.find('\n');
    if (c.frames) {
        if (c.bytes.size() < head) return false;
        end = head + static_cast<size_t>(std::atoi(c.bytes.substr(0, head).c_str()));
    }
    if (end == std::string::npos || c.bytes.size() < end) return false;
    command = c.bytes.substr(head, end - head);
    c.bytes.erase(0, end + (c.frames ? 0 : 1));
    return true;
}

void FakeLauncher::reply(FakeConnection& c, const std::string& text) {
    char head[16] = "";
    if (c.frames) std::snprintf(head, sizeof head, "%6zu", text.size());
    const std::string bytes = head + text + (c.frames ? "" : "\n");
    send(c.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void FakeLauncher::handle(int rank, const std::string& command) {
    FakeConnection& c = servers_[static_cast<size_t>(rank)];
    std::string name;
    field(command, c.frames ? ';' : ' ', "cmd", name);
    if (name == "init")
        handle_init(rank, command);
    else if (name == "barrier_in" || name == "kvs-fence")
        handle_fence(rank);
    else if (c.frames)
        handle_version_2(rank, command);
    else
        handle_version_1(rank, command);
}

void FakeLauncher::handle_init(int rank, const std::string& command) {
    FakeConnection& c = servers_[static_cast<size_t>(rank)];
    std::string version;
    field(command, ' ', "pmi_version", version);
    const bool ok = version == "1" || behavior_.version_2;
    reply(c, "cmd=response_to_init pmi_version=" + version + " pmi_subversion=0 rc=" + (ok ? "0" : "-1"));
    c.frames = ok && version == "2";
}

void FakeLauncher::handle_fence(int rank) {
    ++fence_requests;
    waiting_.push_back(rank);
    if (waiting_.size() < servers_.size()) return;
    ++fences;
    for (const int r : waiting_) {
        FakeConnection& c = servers_[static_cast<size_t>(r)];
        reply(c, c.frames ? "cmd=kvs-fence-response;rc=0;" : "cmd=barrier_out");
    }
    waiting_.clear();
}

void FakeLauncher::store(const std::string& key, std::string value) {
    const size_t at = behavior_.replaced.empty() ? std::string::npos : value.find(behavior_.replaced);
    if (at != std::string::npos) value.replace(at, behavior_.replaced.size(), behavior_.replacement);
    values_[key] = value;
}

void FakeLauncher::handle_version_1(int rank, const std::string& command) {
    FakeConnection& c = servers_[static_cast<size_t>(rank)];
    std::string name, key, value;
    field(command, ' ', "cmd", name);
    field(command, ' ', "key", key);
    field(command, ' ', "value", value);
    if (name == "get_maxes") reply(c, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
    if (name == "get_my_kvsname") reply(c, "cmd=my_kvsname kvsname=fake");
    if (name == "get_appnum") reply(c, "cmd=appnum appnum=2");
    if (name == "get_universe_size") reply(c, "cmd=universe_size size=9");
    if (name == "finalize") reply(c, "cmd=finalize_ack"), ++finalized;
    if (name == "abort") {
        field(command, ' ', "exitcode", value);
        aborted_with = std::atoi(value.c_str());
    }
    if (name == "put") {
        store(key, value);
        ++puts;
        reply(c, "cmd=put_result rc=0 msg=success");
    }
    if (name != "get") return;
    if (key == "PMI_process_mapping")
        value = behavior_.mapping ? behavior_.mapping_text : "";
    else
        value = values_[key], ++gets;
    reply(c, value.empty() ? "cmd=get_result rc=-1 msg=key_not_found"
                           : "cmd=get_result rc=0 msg=success value=" + value);
}

void FakeLauncher::handle_version_2(int rank, const std::string& command) {
    FakeConnection& c = servers_[static_cast<size_t>(rank)];
    std::string name, key, value;
    field(command, ';', "cmd", name);
    field(command, ';', "key", key);
    field(command, ';', "value", value);
    if (name == "fullinit")
        reply(c, "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=" + std::to_string(rank) +
                     ";size=" + std::to_string(servers_.size()) + ";appnum=2;debugged=FALSE;");
    if (name == "job-getid") reply(c, "cmd=job-getid-response;jobid=fake2;rc=0;");
    if (name == "finalize") reply(c, "cmd=finalize-response;rc=0;"), ++finalized;
    if (name == "abort") aborted_with = 1;
    if (name == "kvs-put") {
        store(key, value);
        ++puts;
        reply(c, "cmd=kvs-put-response;rc=0;");
    }
    if (name == "info-getjobattr") {
        value = key == "universeSize" ? "9" : behavior_.mapping ? behavior_.mapping_text : "";
        reply(c, "cmd=info-getjobattr-response;found=" + std::string(value.empty() ? "FALSE" : "TRUE") +
                     ";value=" + value + ";rc=0;");
    }
    if (name == "kvs-get") {
        value = values_[key];
        ++gets;
        reply(c, "cmd=kvs-get-response;found=" + std::string(value.empty() ? "FALSE" : "TRUE") +
                     ";value=" + value + ";rc=0;");
    }
}

} // namespace zipmpi::boot
