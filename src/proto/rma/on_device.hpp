// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a window has with the network device: its own memory, exposed; cards of all members, which say how
// theirs is found; which accumulates and locks go by the device. The members agree on all of it when the
// window is made, so that all who can meet at a word take the same way.
//
// Threads: under the lane's lock.
#pragma once

#include "proto/rma/device.hpp"
#include "proto/rma/network_lock.hpp"
#include "proto/rma/window.hpp"

#include <span>

namespace zipmpi::proto::rma {

struct Window::OnDevice {
    OnDevice(Device& used, size_t members)
        : device(used)
        , cards(members)
        , sides(members) {}
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    using Locks = DeviceLocks;
    enum class Atomics : uint8_t {
        cpu,     // at the target, as without a device
        network, // of the device, for everybody: they meet no instruction of a CPU
        mixed    // they may: a few elements by the device, many at the target
    };
    // The way of the last accumulate to a target: another one waits until it is done.
    enum class Last : uint8_t { none, device, requests };
    // What is known of a member.
    struct Side {
        bool learned = false;
        transport::ucx::RemoteKey region;
        transport::ucx::RemoteKey lock;
        Last last = Last::none;
        // Hybrid: where the lock is believed to be, and what of it this rank has.
        bool believes_network = false;
        enum class Has : uint8_t { nothing, network, request, kept } has = Has::nothing;
        uint64_t ticket = 0;
    };

    Device& device;
    Locks locks = Locks::cpu;
    Atomics atomics = Atomics::cpu;
    bool moves = false; // put and get
    uint32_t turns = 1; // in a row before a hybrid lock changes sides
    transport::ucx::Exposed region;
    transport::ucx::Exposed lock;
    std::vector<wire::RmaCard> cards;
    std::vector<Side> sides;
    uint64_t nowhere = 0; // for results that nobody wants

    void fill_card(const Region& own, wire::NetworkLock& words, wire::RmaCard& card);
    bool learn(int rank);
};

} // namespace zipmpi::proto::rma
