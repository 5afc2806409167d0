// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The CPUs of the ranks on this host: reads the machine and its surroundings, and has map/ decide.
#pragma once

#include "launch/link/messages.hpp"
#include "launch/map/busy.hpp"
#include "launch/map/seating.hpp"

namespace zipmpi::launch {

class HostPlacement {
  public:
    // Early: a first look at what runs here. The request must live as long as this.
    void begin(const StartRequest& request, uint32_t node);
    // False: what the user asks for cannot be had here.
    bool choose(Problem& why);
    // Other nodes of the job are on this machine, too: takes only its part of the cores.
    bool divide(Seating::Part part, Problem& why);

    [[nodiscard]] const std::vector<Seat>& seats() const { return seating_.seats(); }
    [[nodiscard]] std::vector<std::string> report(const std::string& host) const; // a line for each rank
    [[nodiscard]] const topo::Machine& machine() const { return machine_; } // no CPUs: it was not needed
    [[nodiscard]] const HostCores& cores() const { return cores_; }
    // The cores for the live mapper, which keeps all of them.
    HostCores own_cores();

    void leave() { seating_.claims().close(); } // the ranks are gone

    int watch() { return seating_.lends() ? seating_.claims().watch() : -1; }
    bool changed() { return seating_.claims().changed(); }
    CoreNumbers settle() { return seating_.settle(); }

  private:
    bool place_ranks(const PlacementRequest& request, const HostCores& cores, Placement& out, Problem& why);
    bool read_cores(Problem& why);

    const StartRequest* job_ = nullptr;
    std::vector<uint32_t> ranks_; // of this host
    PlacementRequest request_;
    topo::Machine machine_;
    HostCores cores_;
    BusyCpus busy_;
    Seating seating_;
    bool by_talk_ = false;
};

} // namespace zipmpi::launch
