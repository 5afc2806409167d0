// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A seeded simulation: events in the order of virtual time, and random numbers. Everything that a run does
// follows from its seed.
#pragma once

#include "virtual_clock.hpp"

#include <functional>
#include <map>
#include <string>

namespace zipmpi::simulation {

enum class Trace { off, printed };

class Simulator {
  public:
    Simulator(uint64_t seed, Trace trace);
    [[nodiscard]] uint64_t now() const { return virtual_clock::now(); }
    void at(uint64_t when, std::function<void()> action);
    void after(uint64_t delay, std::function<void()> action) { at(now() + delay, std::move(action)); }
    bool step(); // the next event; false: there is none
    [[nodiscard]] uint64_t steps() const { return steps_; }

    uint64_t below(uint64_t limit);
    uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
    bool chance(uint64_t per_mille) { return below(1000) < per_mille; }

    // The first violation of a property ends the run.
    void fail(const std::string& what);
    [[nodiscard]] const std::string& violation() const { return violation_; }
    void print(const std::string& event) const; // if the run is traced

  private:
    using Key = std::pair<uint64_t, uint64_t>; // time, order
    std::map<Key, std::function<void()>> events_;
    uint64_t order_ = 0, steps_ = 0;
    uint64_t random_;
    Trace trace_;
    std::string violation_;
};

// A process that sleeps until an event or a time. It can be slowed, stopped and killed.
class Process {
  public:
    Process(Simulator& simulator, std::string name)
        : simulator_(simulator)
        , name_(std::move(name)) {}
    virtual ~Process() = default;
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool is_alive() const { return alive_; }
    void wake(); // something has arrived
    void stop_until(uint64_t when) { stopped_until_ = when; }
    void slow_until(uint64_t when) { slow_until_ = when; }
    void start();
    void end() { alive_ = false; }

  protected:
    // Does what is due. Returns when to be called again if nothing arrives.
    virtual uint64_t poll() = 0;
    [[nodiscard]] Simulator& simulator() const { return simulator_; }

  private:
    void schedule(uint64_t when);
    void run(uint64_t when);

    Simulator& simulator_;
    std::string name_;
    bool alive_ = false;
    uint64_t next_poll_ = never, stopped_until_ = 0, slow_until_ = 0;
};

} // namespace zipmpi::simulation
