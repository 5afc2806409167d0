// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The runtime of this process, internal to core; ABI bindings use core/runtime.hpp.
#pragma once

#include "boot/job.hpp"
#include "core/api/common.hpp"
#include "core/comm/comm.hpp"
#include "core/comm/context.hpp"
#include "core/runtime.hpp"
#include "core/slab.hpp"

#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

namespace zipmpi::proto {
class ProgressThread;
class ProgressEngine;
namespace rma {
class RdmaContext;
}
} // namespace zipmpi::proto
namespace zipmpi::interjob {
class InterJobNetwork;
}
namespace zipmpi::transport {
class AddressResolver;
}

namespace zipmpi::core {

struct Runtime {
    boot::Job job;
    segment::NodeSegment segment;
    std::unique_ptr<proto::ProgressEngine> progress_engine;
    Comm* world = nullptr;
    Comm* self = nullptr;
    ThreadLevel thread_level = ThreadLevel::single;
    pthread_t main_thread{};
    std::unique_ptr<proto::ProgressThread> progress_thread; // core/progress_thread.hpp
    std::unique_ptr<proto::rma::RdmaContext> rdma_context;  // core/win/rdma.hpp
    bool rdma_tried = false;
    std::string network_devices;                                  // network devices, comma-separated
    std::shared_ptr<transport::AddressResolver> address_resolver; // of the network
    interjob::InterJobNetwork* interjob_network = nullptr; // network of the progress engine; null until
                                                           // another job is connected
    std::vector<int> failed_external;                      // failed external processes
    Comm* parent = nullptr;                                // intercommunicator with the parent job
    int progress_thread_users = 0;                         // windows that need it
    int sessions = 0;
    uint64_t detached_sends = 0;   // in flight without a user request: buffered, freed, or internal
    bool self_handler_set = false; // by the application
    bool world_started = false;
    bool world_ended = false;
};

// Null before the first initialization. It then exists until the process exits: queues in the node segment
// have state on both sides and cannot be restarted.
Runtime* runtime() noexcept;
[[gnu::visibility("hidden")]] extern proto::ProgressEngine* the_progress_engine; // of the runtime
inline proto::ProgressEngine& progress_engine() noexcept { return *the_progress_engine; }

// Starts the runtime if it is not running. If the launcher's information is invalid, prints the reason and
// exits.
Runtime& start_runtime(ThreadLevel level);
// Waits until nothing of this rank is in flight, then signs off from node and launcher.
void shut_down_runtime();

Comm* comm_by_index(uint32_t index);
Errhandler* errhandler_by_index(uint32_t index);
Session* session_by_index(uint32_t index);
Request* request_by_index(uint32_t index);
Message* message_by_index(uint32_t index);
Op* op_by_index(uint32_t index);
Group* group_by_index(uint32_t index);
Info* info_by_index(uint32_t index);
Win* win_by_index(uint32_t index);
File* file_by_index(uint32_t index);

} // namespace zipmpi::core
