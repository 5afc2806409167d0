// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The one engine of this process, for core's own use; faces see core/engine.hpp.
#pragma once

#include "boot/job.hpp"
#include "core/api.hpp"
#include "core/comm/comm.hpp"
#include "core/comm/context.hpp"
#include "core/engine.hpp"
#include "core/slab.hpp"

#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

namespace zipmpi::proto {
class Helper;
class Lane;
namespace rma {
class Device;
}
} // namespace zipmpi::proto
namespace zipmpi::worlds {
class WorldsNetwork;
}

namespace zipmpi::core {

struct Engine {
    boot::Job job;
    boot::NodeSegment segment;
    std::unique_ptr<proto::Lane> lane;
    Comm* world = nullptr;
    Comm* self = nullptr;
    ThreadLevel thread_level = ThreadLevel::single;
    pthread_t main_thread{};
    std::unique_ptr<proto::Helper> helper;      // core/helper.hpp
    std::unique_ptr<proto::rma::Device> device; // core/win/device.hpp
    bool device_tried = false;
    std::string devices;                     // of the network, separated by commas
    worlds::WorldsNetwork* worlds = nullptr; // the lane's network, once another job is known
    std::vector<int> lost_foreign;           // processes of other jobs that are gone
    Comm* parent = nullptr;                  // with those who have started this job
    int helped = 0;                          // windows that need it
    int sessions = 0;
    uint64_t loose_sends = 0; // under way without a request of the program: buffered, freed, for others' sake
    bool self_handler_set = false; // by the program
    bool world_started = false;
    bool world_ended = false;
};

// Null before the first initialisation. Once there, it stays until the process ends: queues in the node
// segment have state on both sides and cannot be started anew.
Engine* engine() noexcept;
extern proto::Lane* the_lane; // of the engine
inline proto::Lane& lane() noexcept { return *the_lane; }

// Brings the engine up if it is not. Does not return if the launcher cannot be understood: prints why and
// exits.
Engine& start_engine(ThreadLevel level);
// Waits until nothing of this rank is under way, then tells node and launcher that it is leaving.
void leave_engine();

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
