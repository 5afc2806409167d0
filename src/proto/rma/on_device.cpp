// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/on_device.hpp"

#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/rma/messages.hpp"

#include <algorithm>
#include <set>

namespace zipmpi::proto::rma {
namespace {

Param<std::string> lock_kind{
    "rma.lock",
    "auto",
    "auto|cpu|network|hybrid",
    Level::tuner,
    Scope::all_equal,
    "locks of windows that network devices reach: at the target by its CPUs, by the network's atomics for "
    "everybody, or moving between the two; auto: network if no two members share a node, else cpu"};
Param<int64_t> lock_turns{"rma.lock_turns",
                          4,
                          {1, 1 << 20},
                          Unit::none,
                          Level::tuner,
                          Scope::all_equal,
                          "locks in a row by the other side before a hybrid lock moves there"};
Param<std::string> atomics_kind{
    "rma.atomics",
    "auto",
    "auto|cpu|network",
    Level::tuner,
    Scope::all_equal,
    "accumulates of 64-bit integers in windows that network devices reach: at the target by its CPUs, or by "
    "the network's atomics for everybody; auto: both if the device says that they may meet, else cpu"};

bool copy_key(const std::string& key, uint8_t& bytes, char (&to)[wire::rma_key_bytes]) {
    if (key.size() > sizeof to) return false;
    bytes = static_cast<uint8_t>(key.size());
    std::memcpy(to, key.data(), key.size());
    return true;
}

} // namespace

Window::OnDevice::~OnDevice() {
    for (Side& s : sides) {
        device.direct().forget(s.region);
        device.direct().forget(s.lock);
    }
    device.direct().hide(region);
    device.direct().hide(lock);
}

// Memory of a dynamic window is not known yet, and goes by requests.
void Window::OnDevice::fill_card(const Region& own, wire::NetworkLock& words, wire::RmaCard& card) {
    auto& direct = device.direct();
    card.coherent = direct.coherent() ? 1 : 0;
    card.region = own.base;
    card.lock = reinterpret_cast<uint64_t>(&words);
    const bool has_region = own.size != 0 && own.size != everywhere;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): own memory
    const bool shown = (!has_region || direct.expose(reinterpret_cast<void*>(own.base), own.size, region)) &&
                       direct.expose(&words, sizeof words, lock) &&
                       copy_key(region.key, card.region_key_bytes, card.region_key) &&
                       copy_key(lock.key, card.lock_key_bytes, card.lock_key);
    card.usable = shown ? 1 : 0;
}

bool Window::OnDevice::learn(int rank) {
    Side& s = sides[static_cast<size_t>(rank)];
    const wire::RmaCard& card = cards[static_cast<size_t>(rank)];
    if (s.learned) return true;
    if (card.region_key_bytes > wire::rma_key_bytes || card.lock_key_bytes > wire::rma_key_bytes)
        return false;
    auto& direct = device.direct();
    s.learned =
        (card.region_key_bytes == 0 || direct.learn({card.region_key, card.region_key_bytes}, s.region)) &&
        direct.learn({card.lock_key, card.lock_key_bytes}, s.lock);
    return s.learned;
}

// The same for all members.
Window::DeviceLocks Window::choose_locks() const {
    if (lock_kind.get() == "cpu") return OnDevice::Locks::cpu;
    if (lock_kind.get() == "network") return OnDevice::Locks::network;
    if (lock_kind.get() == "hybrid") return OnDevice::Locks::hybrid;
    std::set<int> nodes;
    for (int r = 0; r < team_.size; ++r) nodes.insert(team_.lane->node_of(team_.map.world(r)));
    return nodes.size() == targets_.size() ? OnDevice::Locks::network : OnDevice::Locks::cpu;
}

// Collective. Either all members use their devices or none does.
Err Window::use_device(Device& device) {
    auto on = std::make_unique<OnDevice>(device, targets_.size());
    wire::NetworkLock& own = members_[team_.rank].network_lock;
    on->turns = static_cast<uint32_t>(lock_turns.get());
    on->locks = choose_locks();
    if (on->locks == OnDevice::Locks::hybrid) NodeShare(own).at_start();
    on->fill_card(regions_[static_cast<size_t>(team_.rank)], own, on->cards[static_cast<size_t>(team_.rank)]);
    if (const Err e = coll::allgather(team_, on->cards.data(), sizeof(wire::RmaCard)); e != Err::success)
        return e;
    const auto& cards = on->cards;
    if (!std::ranges::all_of(cards, [](const wire::RmaCard& c) { return c.usable != 0; }))
        return Err::success;
    const bool coherent = std::ranges::all_of(cards, [](const wire::RmaCard& c) { return c.coherent != 0; });
    on->moves = std::ranges::none_of(regions_, [](const Region& r) { return r.size == everywhere; });
    if (on->moves && atomics_kind.get() == "network")
        on->atomics = OnDevice::Atomics::network;
    else if (on->moves && atomics_kind.get() == "auto" && coherent)
        on->atomics = OnDevice::Atomics::mixed;
    on_device_ = std::move(on);
    if (on_device_->locks == OnDevice::Locks::hybrid) static_cast<void>(device_end(team_.rank));
    for (Target& t : targets_) t.shared = t.shared && on_device_->atomics != OnDevice::Atomics::network;
    return Err::success;
}

// The end of the way to a target, made at the first use. -1: there is none.
int Window::device_end(int rank) {
    OnDevice& on = *on_device_;
    const int world = team_.map.world(rank);
    Device::Way& way = on.device.way_to(world);
    if (way.state == Device::Way::State::none && rank == team_.rank) {
        on.device.connect_to_self(way);
    } else if (way.state == Device::Way::State::none) {
        const std::string text = on.device.open_way(way);
        if (way.state == Device::Way::State::asked) messages_->ask_for_way(rank, text);
    }
    if (way.state == Device::Way::State::asked)
        await(
            [](const Window& w, int64_t r) {
                const int to = w.team_.map.world(static_cast<int>(r));
                return w.on_device_->device.way_to(to).state != Device::Way::State::asked;
            },
            rank, rank);
    return way.state == Device::Way::State::up && on.learn(rank) ? way.end : -1;
}

// Everything by the device to this rank, or to all (-1).
void Window::settle(int rank) {
    if (on_device_ == nullptr) return;
    if (rank < 0) {
        for (int r = 0; r < team_.size; ++r) settle(r);
        return;
    }
    Device& device = on_device_->device;
    const Device::Way& way = device.way_to(team_.map.world(rank));
    if (way.state != Device::Way::State::up) return;
    device.wait_until([&] { return device.settled(way.end); });
    if (device.failed(way.end) && failure_ == Err::success)
        failure_ = fail(Err::other, "look at the network between the hosts, or set the knob rma.device to no",
                        "the network device has lost operations to rank %d", rank);
}

Err Window::no_way(int rank) {
    return fail(Err::other, "set the knob rma.device to no, or look at the network between the hosts",
                "the network device of this rank does not reach that of rank %d", rank);
}

} // namespace zipmpi::proto::rma
