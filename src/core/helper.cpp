// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/helper.hpp"

#include "base/param.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/helper.hpp"

namespace zipmpi::core {
namespace {

Param<bool> use_helper{
    "rma.helper", true, Level::user, Scope::local,
    "a thread serves one-sided operations of ranks that cannot reach the memory of this one, while "
    "the program computes; without it they wait until the program calls MPI"};

} // namespace

// From the first on the caller holds the lock that calls of a single thread do without.
void need_help() {
    Engine& e = *engine();
    if (e.helped++ != 0 || !use_helper) return;
    live::locks.store(true, std::memory_order_relaxed);
    e.lane->begin_helping();
    e.helper = std::make_unique<proto::Helper>(*e.lane);
    if (e.helper->start()) return;
    end_help(); // no thread can be made: served during calls only
}

void give_back_help() {
    Engine& e = *engine();
    if (--e.helped == 0) end_help();
}

void end_help() {
    Engine& e = *engine();
    if (e.helper == nullptr) return;
    e.helper.reset();
    e.lane->end_helping();
    live::locks.store(e.lane->multithreaded(), std::memory_order_relaxed);
}

} // namespace zipmpi::core
