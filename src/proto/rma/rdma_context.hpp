// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RDMA state of the process, shared by all windows: the device (transport/rdma_device.hpp), connections
// to the ranks it was used for, and actions on the completion of operations.
//
// RDMA completions raise no event, so waiting ranks poll, in wait_until(). While operations are pending,
// every progress call polls the device.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/progress/progress_task.hpp"
#include "transport/rdma_device.hpp"

#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::proto {
class ProgressEngine;
}

namespace zipmpi::proto::rma {

class FetchOp;

class RdmaContext {
  public:
    RdmaContext(std::unique_ptr<transport::RdmaDevice> device, ProgressEngine& engine);
    ~RdmaContext();
    RdmaContext(const RdmaContext&) = delete;
    RdmaContext& operator=(const RdmaContext&) = delete;

    [[nodiscard]] transport::RdmaDevice& device() { return *device_; }

    // Connection for operations of this process to a rank. Each direction has its own, since only the origin
    // can tell when it is established.
    struct RdmaConnection {
        enum class State : uint8_t { none, requested, connected, unreachable };
        State state = State::none;
        int endpoint = -1;
    };
    [[nodiscard]] RdmaConnection& connection_to(int world_rank) { return connections_[world_rank]; }
    // Origin: creates an endpoint; returns its address as text, to be sent to the target.
    std::string open_connection(RdmaConnection& connection);
    // Target: connects to the endpoint of the origin; returns the address for the reply, empty on failure.
    std::string accept(std::string_view text);
    // Origin: handles the reply of the target.
    void connect(RdmaConnection& connection, std::string_view text);
    void connect_to_self(RdmaConnection& connection);

    // An operation was started on this endpoint.
    void mark_busy(int endpoint);
    [[nodiscard]] bool is_busy(int endpoint) const {
        const auto i = static_cast<size_t>(endpoint);
        return i < busy_.size() && busy_[i];
    }
    // All operations on this endpoint are complete, and their completion actions have run.
    [[nodiscard]] bool is_flushed(int endpoint);
    [[nodiscard]] bool failed(int endpoint) const { return device_->failed(endpoint); }

    // When all earlier operations on an endpoint are complete: stores the memory to a part of a fetched
    // result, or only releases it.
    struct CompletionAction {
        int endpoint = -1;
        bool immediate = false;        // a caller may wait for this action alone
        std::vector<std::byte> memory; // staging buffer of operations
        FetchOp* fetch = nullptr;      // null: none
        uint64_t fetched_to = 0;       // offset of the memory in the packed result
    };
    CompletionAction& on_flushed(int endpoint, uint64_t memory_bytes = 0) {
        CompletionAction& a = completion_actions_.emplace_back();
        a.endpoint = endpoint;
        a.memory.resize(memory_bytes);
        held_bytes_ += memory_bytes;
        return a;
    }
    [[nodiscard]] uint64_t held_bytes() const { return held_bytes_; }

    // While one exists, operations of other ranks are expected, whose arrival raises no event.
    class ArrivalWait {
      public:
        explicit ArrivalWait(RdmaContext& context);
        ~ArrivalWait() { --context_.arrival_waits_; }
        ArrivalWait(const ArrivalWait&) = delete;
        ArrivalWait& operator=(const ArrivalWait&) = delete;

      private:
        RdmaContext& context_;
    };

    // Drives progress until done() returns true; releases the lock now and then.
    template <class Done>
    void wait_until(const Done& done) {
        for (uint32_t polls = 1; !done(); ++polls) progress(polls);
    }

  private:
    struct RdmaHook : ProgressHook {
        RdmaContext* context = nullptr;
    };
    int poll();
    void progress(uint32_t polls); // and pauses, depending on `polls`
    void finish(int endpoint);

    std::unique_ptr<transport::RdmaDevice> device_;
    ProgressEngine& engine_;
    std::map<int, RdmaConnection> connections_; // by world rank
    std::vector<bool> busy_;                    // by endpoint: operations started since the last flush
    int busy_endpoints_ = 0;
    int arrival_waits_ = 0;
    uint32_t polls_ = 0;
    std::list<CompletionAction> completion_actions_;
    uint64_t held_bytes_ = 0; // staging memory of the completion actions
    RdmaHook hook_;
};

} // namespace zipmpi::proto::rma
