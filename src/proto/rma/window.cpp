// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The members of a window: how each is reached, locks, and who waits for whom.
#include "proto/rma/window.hpp"

#include "proto/rma/messages.hpp"
#include "proto/rma/offer.hpp"
#include "proto/rma/on_device.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {
namespace {

struct Waiter {
    bool (*condition)(const Window& w, int64_t argument);
    const Window* window;
    int64_t argument;
};

// Whoever makes the condition true does so by a seq_cst store and then looks for sleepers.
bool last_look(void* waiter) {
    const auto& w = *static_cast<const Waiter*>(waiter);
    return w.condition(*w.window, w.argument);
}

} // namespace

Window::Window(Team& team, uint64_t control, const std::vector<Region>& regions, const Codes& codes)
    : team_(team)
    , control_(control)
    , regions_(regions)
    , codes_(codes)
    , members_(reinterpret_cast<wire::WindowMember*>(team.lane->shm().segment().board(control)))
    , targets_(static_cast<size_t>(team.size))
    , shown_(make_recv(team, nullptr, 0, team.rank, 0)) {
    bool serves = false;
    for (const Region& r : regions_) serves = serves || (r.place == 0 && r.size != 0);
    for (int r = 0; r < team.size; ++r) {
        peek(r).remote = !team.lane->on_this_node(team.map.world(r));
        spans_ = spans_ || peek(r).remote;
    }
    if ((serves || spans_) && team.size > 1) messages_ = std::make_unique<Messages>(*this);
    // The helper would listen to its node all the time if the window spanned hosts.
    if (serves && !spans_ && team.size > 1) offers_ = std::make_unique<Offers>(*this);
}

Window::~Window() {
    for (const Target& t : targets_)
        if (t.mapped != nullptr) transport::shm::Arena::unmap(t.mapped, t.size);
}

void Window::find_reach(int rank, Target& t) {
    const Region& r = regions_[static_cast<size_t>(rank)];
    Lane& lane = *team_.lane;
    t.size = r.size;
    t.unit = r.unit;
    if (t.remote)
        return t.set_reach(on_device_ != nullptr && on_device_->moves ? Reach::device : Reach::messages);
    t.peer = static_cast<transport::Peer>(lane.shm().reach(team_.map.world(rank)));
    const bool in_file = r.place != 0;
    t.shared = in_file && (on_device_ == nullptr || on_device_->atomics != OnDevice::Atomics::network);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that its owner has told
    t.base = reinterpret_cast<std::byte*>(r.base);
    if (rank == team_.rank || r.size == 0) {
        t.set_reach(Reach::direct);
    } else if (in_file) {
        const auto owner = static_cast<transport::Peer>(lane.shm().reach(team_.map.world(r.owner)));
        t.mapped = lane.arena().map(owner, r.place, r.size);
        t.base = t.mapped;
        if (t.mapped == nullptr) t.size = 0; // no address space is left: nothing there can be reached
        t.set_reach(Reach::direct);
    } else {
        t.set_reach(lane.kcopy().reads_and_writes(t.peer) ? Reach::kernel : Reach::messages);
    }
}

bool Window::reaches_by_messages() {
    bool found = spans_;
    for (int r = 0; r < team_.size && messages_ != nullptr && !found; ++r)
        found = target(r).reach() == Reach::messages;
    return found;
}

void Window::set_direct(int rank, std::byte* base) {
    Target& t = peek(rank);
    const Region& r = regions_[static_cast<size_t>(rank)];
    t.size = r.size;
    t.unit = r.unit;
    t.peer = static_cast<transport::Peer>(team_.lane->shm().reach(team_.map.world(rank)));
    t.shared = true;
    t.base = base;
    t.set_reach(Reach::direct);
}

void Window::await(bool (*condition)(const Window& w, int64_t argument), int64_t argument, int shown_peer) {
    if (condition(*this, argument)) return;
    Waiter waiter{condition, this, argument};
    Operation shown = shown_;
    shown.peer = shown.source = shown_peer;
    shown.world_peer = shown_peer >= 0 ? team_.map.world(shown_peer) : -1;
    WaitNote note = note_on(shown);
    note.last_look = last_look;
    note.waiter = &waiter;
    wait_until(
        *team_.lane, [&] { return condition(*this, argument); }, note);
}

void Window::flush_messages(int rank) {
    settle(rank);
    if (rank < 0) {
        messages_->push_all(true);
        return await([](const Window& w, int64_t) { return w.messages_->all_settled(); }, 0, -1);
    }
    Messages::Link* const l = messages_->known_link(rank);
    if (l == nullptr) return;
    messages_->ask(*l);
    await([](const Window& w, int64_t r) { return w.messages_->known_link(static_cast<int>(r))->settled(); },
          rank, rank);
}

void Window::await_fetches(int rank) {
    settle(rank); // the device may still read or write memory of this process
    if (rank < 0) {
        if (messages_->fetches() != 0) messages_->push_all(false);
        return await([](const Window& w, int64_t) { return w.messages_->fetches() == 0; }, 0, -1);
    }
    Messages::Link* const l = messages_->known_link(rank);
    if (l == nullptr || l->fetches == 0) return;
    messages_->push(*l, false);
    await(
        [](const Window& w, int64_t r) { return w.messages_->known_link(static_cast<int>(r))->fetches == 0; },
        rank, rank);
}

void Window::lock(int rank, bool exclusive) {
    if (peek(rank).remote) {
        if (on_device_ != nullptr && (on_device_->moves || locks_by_device()))
            return lock_far(rank, exclusive);
        messages_->link(rank).held =
            exclusive ? Messages::Held::wanted_exclusive : Messages::Held::wanted_shared;
        return;
    }
    if (locks_by_device()) return lock_near(rank, exclusive);
    lock_by_cpu(rank, exclusive);
}

void Window::lock_by_cpu(int rank, bool exclusive) {
    FairLock l(members_[rank].lock);
    shown_.peer = shown_.source = rank;
    shown_.world_peer = team_.map.world(rank);
    exclusive ? l.lock_exclusive(*team_.lane, shown_) : l.lock_shared(*team_.lane, shown_);
}

void Window::begin_unlock(int rank, bool exclusive) {
    if (peek(rank).remote) {
        Messages::Link& l = messages_->link(rank);
        const bool held = std::exchange(l.held, Messages::Held::no) == Messages::Held::asked;
        if (held) settle(rank);
        if (held && locks_by_device()) return unlock_far(rank, exclusive);
        if (held) messages_->add(l, {wire::RmaKind::unlock});
        return messages_->ask(l);
    }
    flush(rank);
    if (locks_by_device()) return unlock_near(rank, exclusive);
    unlock_by_cpu(rank, exclusive);
}

void Window::unlock_by_cpu(int rank, bool exclusive) {
    FairLock l(members_[rank].lock);
    exclusive ? l.unlock_exclusive(*team_.lane) : l.unlock_shared(*team_.lane);
}

void Window::unlock(int rank, bool exclusive) {
    begin_unlock(rank, exclusive);
    if (peek(rank).remote) flush_messages(rank);
}

std::atomic<uint64_t>* Window::posted(int rank) const {
    const wire::WindowGeometry g{static_cast<uint32_t>(team_.size)};
    return reinterpret_cast<std::atomic<uint64_t>*>(reinterpret_cast<std::byte*>(members_) +
                                                    g.posted_offset(static_cast<uint32_t>(rank)));
}

void Window::post_to(int origin) {
    if (peek(origin).remote) return messages_->post_to(origin);
    posted(origin)[team_.rank / 64].fetch_or(uint64_t{1} << (team_.rank % 64), std::memory_order_seq_cst);
    if (origin != team_.rank)
        team_.lane->shm().wake_if_asleep(
            static_cast<transport::Peer>(team_.lane->shm().reach(team_.map.world(origin))));
}

void Window::take_post(int from) {
    posted(team_.rank)[from / 64].fetch_or(uint64_t{1} << (from % 64), std::memory_order_seq_cst);
}

void Window::await_post(int target) {
    await(
        [](const Window& w, int64_t from) {
            return (w.posted(w.team_.rank)[from / 64].load(std::memory_order_seq_cst) >> (from % 64) & 1) !=
                   0;
        },
        target, target);
    posted(team_.rank)[target / 64].fetch_and(~(uint64_t{1} << (target % 64)), std::memory_order_seq_cst);
}

void Window::complete_to(int target) {
    if (peek(target).remote) {
        settle(target);
        Messages::Link& l = messages_->link(target);
        messages_->add(l, {wire::RmaKind::complete});
        return messages_->push(l, false);
    }
    flush(target);
    members_[target].completed.fetch_add(1, std::memory_order_seq_cst);
    if (target != team_.rank)
        team_.lane->shm().wake_if_asleep(
            static_cast<transport::Peer>(team_.lane->shm().reach(team_.map.world(target))));
}

void Window::await_completes(uint32_t origins) {
    await([](const Window& w, int64_t n) { return w.all_completed(static_cast<uint32_t>(n)); }, origins, -1);
    forget_completes(origins);
}

bool Window::attach(uint64_t base, uint64_t size) {
    for (const Attached& a : attached_)
        if (base < a.base + a.size && a.base < base + size) return false;
    attached_.push_back({base, size});
    return true;
}

bool Window::detach(uint64_t base) {
    const auto at =
        std::find_if(attached_.begin(), attached_.end(), [&](const Attached& a) { return a.base == base; });
    if (at == attached_.end()) return false;
    attached_.erase(at);
    return true;
}

// Regions that lie side by side count as one.
bool Window::is_attached(uint64_t base, uint64_t size) const {
    while (size > 0) {
        const auto at = std::find_if(attached_.begin(), attached_.end(), [&](const Attached& a) {
            return base >= a.base && base - a.base < a.size;
        });
        if (at == attached_.end()) return false;
        const uint64_t there = std::min(size, at->size - (base - at->base));
        base += there;
        size -= there;
    }
    return true;
}

} // namespace zipmpi::proto::rma
