// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: a PMI server for several ranks in one thread. It speaks versions 1 and 2, as asked, and can be
// told to misbehave.
#pragma once

#include "os/fd.hpp"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace zipmpi::boot {

struct FakeBehaviour {
    bool version_2 = true; // false: refuses it
    bool mapping = true;   // offers PMI_process_mapping
    std::string mapping_text;
};

class FakeLauncher {
  public:
    FakeLauncher(int size, FakeBehaviour behaviour);
    // A test that forks does so before begin(): a child of a process with threads may find locks taken for
    // ever.
    enum Later { later };
    FakeLauncher(int size, FakeBehaviour behaviour, Later);
    void begin();
    ~FakeLauncher(); // closes the connections and joins the thread
    FakeLauncher(const FakeLauncher&) = delete;
    FakeLauncher& operator=(const FakeLauncher&) = delete;

    [[nodiscard]] int client_fd(int rank) const { return clients_[static_cast<size_t>(rank)].get(); }
    // What was seen, after stop().
    void stop();
    int puts = 0, gets = 0, fences = 0, finalized = 0;
    std::atomic<int> aborted_with = -1; // may be looked at while it runs

  private:
    struct Connection {
        os::Fd fd;
        bool frames = false;
        std::string bytes;
    };
    void serve();
    bool next_command(Connection& c, std::string& command);
    void reply(Connection& c, const std::string& text);
    void handle(int rank, const std::string& command);
    void handle_init(int rank, const std::string& command);
    void handle_fence(int rank);
    void handle_version_1(int rank, const std::string& command);
    void handle_version_2(int rank, const std::string& command);

    FakeBehaviour behaviour_;
    std::vector<Connection> servers_;
    std::vector<os::Fd> clients_;
    std::vector<int> waiting_; // in the fence
    std::map<std::string, std::string> values_;
    os::Fd stop_read_, stop_write_;
    std::thread thread_;
};

} // namespace zipmpi::boot
