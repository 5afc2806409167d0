// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface of the search for network devices that reach the other hosts of a job.
#pragma once

#include <span>
#include <string>

namespace zipmpi::transport {

// What a search asks and reports; called by run().
class ProbeListener {
  public:
    // Current addresses of a partner that may be restarted; empty: unknown.
    virtual std::string current_addresses() { return {}; }
    // Working devices so far. Called before the reply, so that the partner can rely on it.
    virtual void found(const std::string& /*devices*/) {}
    virtual bool is_complete() { return false; } // no other process is probing

  protected:
    ~ProbeListener() = default;
};

// Finds the network devices that reach the other hosts of a job. Docker bridges, virtual machines and private
// ranges used at several sites have addresses that look usable and lead nowhere, or to another host.
// Therefore all are tried concurrently, and one counts only when the other side has proven that it has the
// key of the job. One rank per node probes, with those of the next and the previous node.
class DeviceProbe {
  public:
    // Partners and time limit.
    struct ProbeRequest {
        int next;
        std::string addresses; // of the node of rank `next`
        std::span<const int> incoming;
        int limit_ms;
        ProbeListener* listener = nullptr; // null: partners stay where they are
    };
    virtual ~DeviceProbe() = default;
    // Listens on every address of this host that others might reach. Returns the text to publish; empty: no
    // address.
    virtual std::string listen() = 0;
    // Tries all addresses of the node of rank `next` and replies to the ranks `incoming`, until all are
    // connected or the time is over.
    virtual bool run(const ProbeRequest& search) = 0;
    [[nodiscard]] virtual const std::string& devices() const = 0; // working devices, comma-separated
    [[nodiscard]] virtual const std::string& log() const = 0;     // events of the search
};

} // namespace zipmpi::transport
