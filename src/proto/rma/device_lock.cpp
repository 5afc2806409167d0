// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Locks of windows that devices reach (network_lock.hpp). Near: ranks of the target's node. Far: others.
#include "os/clock.hpp"
#include "proto/rma/messages.hpp"
#include "proto/rma/on_device.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {
namespace {

// Who waits looks again after a time that grows with the tickets before its own.
constexpr uint64_t look_ns = 2000;
constexpr uint64_t longest_look_ns = 200'000;

} // namespace

bool Window::locks_by_device() const {
    return on_device_ != nullptr && on_device_->locks != OnDevice::Locks::cpu;
}

void Window::lock_near(int rank, bool exclusive) {
    if (on_device_->locks == OnDevice::Locks::network) return lock_word(rank, exclusive);
    lock_by_cpu(rank, exclusive);
    NodeShare share(members_[rank].network_lock);
    share.note_node();
    if (exclusive && share.is_open()) leave_as_reader(rank);
    auto& side = on_device_->sides[static_cast<size_t>(rank)];
    side.has = share.keeps() ? OnDevice::Side::Has::kept : OnDevice::Side::Has::network;
    if (side.has == OnDevice::Side::Has::network) lock_word(rank, exclusive);
}

void Window::unlock_near(int rank, bool exclusive) {
    if (on_device_->locks == OnDevice::Locks::network) return unlock_word(rank, exclusive);
    NodeShare share(members_[rank].network_lock);
    const auto& side = on_device_->sides[static_cast<size_t>(rank)];
    if (side.has == OnDevice::Side::Has::kept) {
        if (exclusive && share.is_awaited()) share.give_way();
    } else if (!exclusive || !share.keep(side.ticket, on_device_->turns)) {
        unlock_word(rank, exclusive);
    }
    unlock_by_cpu(rank, exclusive);
}

// Exclusive: the node has kept the lock as a reader; it leaves as one, by an atomic of the device. Nobody
// waits for that: the lock cannot go to a writer before.
void Window::leave_as_reader(int rank) {
    const int end = device_end(rank);
    if (end < 0) return;
    OnDevice& on = *on_device_;
    NodeShare(members_[rank].network_lock).forget();
    on.device.direct().fetch_add(
        end, 1, &on.nowhere,
        {on.cards[static_cast<size_t>(rank)].lock + offsetof(wire::NetworkLock, writers),
         on.sides[static_cast<size_t>(rank)].lock.key});
    on.device.note(end);
    on.device.when_settled(end).at_once = true; // others wait for it: nobody sleeps before it is done
}

void Window::lock_far(int rank, bool exclusive) {
    Messages::Link& l = messages_->link(rank);
    l.held = Messages::Held::asked;
    if (!locks_by_device()) {
        messages_->add(l, {exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared});
        return flush_messages(rank);
    }
    auto& side = on_device_->sides[static_cast<size_t>(rank)];
    side.has = OnDevice::Side::Has::network;
    if (on_device_->locks == OnDevice::Locks::hybrid && !side.believes_network) {
        if (lock_by_request(rank, exclusive)) {
            side.has = OnDevice::Side::Has::request;
            return;
        }
        side.believes_network = true;
    }
    lock_word(rank, exclusive);
}

void Window::unlock_far(int rank, bool exclusive) {
    flush_messages(rank);
    if (on_device_->sides[static_cast<size_t>(rank)].has != OnDevice::Side::Has::request)
        return unlock_word(rank, exclusive);
    Messages::Link& l = messages_->link(rank);
    messages_->add(l, {wire::RmaKind::unlock});
    messages_->ask(l);
}

// False: the lock is on the network.
bool Window::lock_by_request(int rank, bool exclusive) {
    struct Told : Exchange {
        bool over = false;
    } told;
    uint64_t got = 0;
    told.result = {reinterpret_cast<std::byte*>(&got), nullptr, 0, sizeof got};
    told.done = [](Exchange& e) { static_cast<Told&>(e).over = true; };
    Messages::Request request{exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared};
    request.exchange = &told;
    request.fetched_bytes = sizeof got;
    Messages::Link& l = messages_->link(rank);
    messages_->add(l, request);
    messages_->push(l, true);
    told.part_done();
    await(
        [](const Window&, int64_t address) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): of `told`
            return reinterpret_cast<const Told*>(address)->over;
        },
        reinterpret_cast<int64_t>(&told), rank);
    return got != 0;
}

void Window::lock_word(int rank, bool exclusive) {
    const int end = device_end(rank);
    if (end < 0) {
        failure_ = no_way(rank);
        return;
    }
    OnDevice& on = *on_device_;
    auto& direct = on.device.direct();
    auto& side = on.sides[static_cast<size_t>(rank)];
    const bool near = !peek(rank).remote;
    wire::NetworkLock& words = members_[rank].network_lock; // of a near target
    const uint64_t base = on.cards[static_cast<size_t>(rank)].lock;
    const auto finish = [&] {
        on.device.note(end);
        settle(rank);
    };
    LockCounts counts{};
    direct.fetch_add(end, 1, &side.ticket, {base, side.lock.key});
    direct.get(end, &counts, sizeof counts, {base, side.lock.key});
    finish();
    bool asked = near || on.locks != OnDevice::Locks::hybrid;
    while (!counts.lets_in(side.ticket, exclusive) && !direct.failed(end)) {
        if (!asked && counts.is_kept()) { // the belief was wrong; the next time the target is asked
            asked = true;
            side.believes_network = false;
            messages_->ask_apart(rank, exclusive ? wire::RmaKind::give_way : wire::RmaKind::let_readers_in);
        }
        const uint64_t until = os::now_ns() + std::min(look_ns * counts.ahead(side.ticket), longest_look_ns);
        on.device.wait_until([&] { return os::now_ns() >= until; });
        if (near) {
            counts = read_counts(words);
        } else {
            direct.get(end, &counts, sizeof counts, {base, side.lock.key});
            finish();
        }
    }
    if (exclusive) return;
    const uint64_t next = side.ticket + 1;
    direct.put(end, &next, sizeof next, {base + offsetof(wire::NetworkLock, readers), side.lock.key});
    finish();
}

void Window::unlock_word(int rank, bool exclusive) {
    const int end = device_end(rank);
    if (end < 0) return;
    OnDevice& on = *on_device_;
    const auto& side = on.sides[static_cast<size_t>(rank)];
    const uint64_t base = on.cards[static_cast<size_t>(rank)].lock;
    const uint64_t after[2] = {side.ticket + 1, side.ticket + 1}; // writers, readers: devices write upwards
    if (exclusive)
        on.device.direct().put(end, after, sizeof after,
                               {base + offsetof(wire::NetworkLock, writers), side.lock.key});
    else
        on.device.direct().fetch_add(end, 1, &on.nowhere,
                                     {base + offsetof(wire::NetworkLock, writers), side.lock.key});
    on.device.note(end);
    settle(rank);
}

} // namespace zipmpi::proto::rma
