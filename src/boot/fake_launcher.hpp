// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PMI server for tests, for several ranks in one thread. It supports versions 1 and 2 and can be configured
// to reject requests.
#pragma once

#include "os/fd.hpp"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace zipmpi::boot {

struct FakeBehavior {
    bool version_2 = true; // false: rejects version 2
    bool mapping = true;   // offers PMI_process_mapping
    std::string mapping_text;
    std::string replaced, replacement; // in every value that is put
};

class FakeLauncher {
  public:
    FakeLauncher(int size, FakeBehavior behavior);
    // A test that forks must fork before begin(): the child of a process with threads may inherit locked
    // mutexes.
    enum Later { later };
    FakeLauncher(int size, FakeBehavior behavior, Later);
    void begin();
    ~FakeLauncher(); // closes the connections and joins the thread
    FakeLauncher(const FakeLauncher&) = delete;
    FakeLauncher& operator=(const FakeLauncher&) = delete;

    [[nodiscard]] int client_fd(int rank) const { return clients_[static_cast<size_t>(rank)].get(); }
    // Numbers of requests; valid after stop().
    void stop();
    int puts = 0, gets = 0, fences = 0, finalized = 0;
    // May be read while the server runs.
    std::atomic<int> aborted_with = -1;
    std::atomic<int> fence_requests = 0;

  private:
    struct FakeConnection {
        os::Fd fd;
        bool frames = false;
        std::string bytes;
    };
    void serve();
    bool next_command(FakeConnection& c, std::string& command);
    void reply(FakeConnection& c, const std::string& text);
    void handle(int rank, const std::string& command);
    void handle_init(int rank, const std::string& command);
    void handle_fence(int rank);
    void store(const std::string& key, std::string value);
    void handle_version_1(int rank, const std::string& command);
    void handle_version_2(int rank, const std::string& command);

    FakeBehavior behavior_;
    std::vector<FakeConnection> servers_;
    std::vector<os::Fd> clients_;
    std::vector<int> waiting_; // ranks in the fence
    std::map<std::string, std::string> values_;
    os::Fd stop_read_, stop_write_;
    std::thread thread_;
};

} // namespace zipmpi::boot
