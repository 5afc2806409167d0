// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <cstring>

namespace zipmpi::bridge::explore {

uint64_t clock_ns = second;

Exchange::Exchange(const Scenario& s, const std::vector<PlacedFault>& faults)
    : scenario(s)
    , faults_(faults) {
    clock_ns = second;
    for (int i = 0; i < 2; ++i) sides_[i] = std::make_unique<Side>(*this, i);
}

PostStatus Exchange::post(int from, int gateway, std::span<const std::byte> head,
                          std::span<const std::byte> data, FrameTicket* ticket) {
    if (!connected_[from][gateway]) return PostStatus::failed;
    const bool referenced = ticket != nullptr && !data.empty();
    const uint64_t latency = (gateway == 0 ? 50 : 80) * us;
    frames_.push_back({clock_ns + latency,
                       order_++,
                       from,
                       gateway,
                       {head.begin(), head.end()},
                       {data.begin(), data.end()},
                       referenced ? ticket : nullptr});
    return referenced ? PostStatus::in_flight : PostStatus::done;
}

void Exchange::reconnect(int side, int gateway) {
    connected_[side][gateway] = false;
    after(0, [this, side, gateway] { drop_frames(side, gateway); });
    after(500 * ms, [this, side, gateway] {
        if (!hung_[gateway]) connect(side, gateway);
    });
}

void Exchange::drop_frames(int from, int gateway) {
    std::vector<std::pair<int, FrameTicket*>> tickets;
    std::erase_if(frames_, [&](const FrameInFlight& f) {
        if (f.gateway != gateway || (from >= 0 && f.from != from)) return false;
        if (f.ticket != nullptr) tickets.emplace_back(f.from, f.ticket);
        return true;
    });
    for (const auto& [owner, ticket] : tickets) sides_[owner]->end.on_frame_sent(ticket);
}

void Exchange::disconnect(int side, int gateway) {
    if (!connected_[side][gateway]) return;
    connected_[side][gateway] = false;
    drop_frames(side, gateway);
    if (!gone_[side]) sides_[side]->end.path_down(gateway);
}

void Exchange::connect(int side, int gateway) {
    if (connected_[side][gateway] || gone_[side]) return;
    connected_[side][gateway] = true;
    sides_[side]->end.path_up(gateway);
}

void Exchange::restart_hung(int gateway) {
    hung_[gateway] = false;
    drop_frames(-1, gateway);
    for (int s = 0; s < 2; ++s) {
        disconnect(s, gateway);
        connect(s, gateway);
    }
}

void Exchange::strike(Fault fault, int gateway, int from) {
    if (fault == Fault::gateway_restarts) {
        for (int s = 0; s < 2; ++s) disconnect(s, gateway);
        after(700 * ms, [this, gateway] {
            for (int s = 0; s < 2; ++s) connect(s, gateway);
        });
    } else if (fault == Fault::gateway_hangs) {
        hung_[gateway] = true;
        after(5 * second, [this, gateway] { restart_hung(gateway); });
    } else if (fault == Fault::one_side_disconnects) {
        disconnect(from, gateway);
        after(300 * ms, [this, gateway, from] { connect(from, gateway); });
    } else if (!peer_was_killed) {
        const int victim = 1 - from;
        gone_[victim] = peer_was_killed = true;
        for (int g = 0; g < gateways; ++g) drop_frames(victim, g);
        after(2 * ms, [this, from, victim] { sides_[from]->end.fail_peer(victim); });
    }
}

void Exchange::answer_as_gateway(const FrameInFlight& f, const wire::Frame& frame) {
    wire::Frame answer{};
    answer.type =
        frame.type == wire::FrameType::heartbeat ? wire::FrameType::heartbeat : wire::FrameType::credit;
    answer.flags = wire::frame_reply;
    answer.job = job;
    answer.to = f.from;
    answer.length = f.head.size() + f.data.size();
    answer.sequence = frame.sequence;
    finalize(answer);
    if (!gone_[f.from] && connected_[f.from][f.gateway])
        sides_[f.from]->end.on_frame(f.gateway, std::as_bytes(std::span(&answer, 1)), {});
}

const PlacedFault* Exchange::fault_at_next_point(const FrameInFlight& frame) {
    if (frame.had_fault) return nullptr;
    const int point = points++;
    const auto found = std::ranges::find(faults_, point, &PlacedFault::point);
    return found == faults_.end() ? nullptr : &*found;
}

void Exchange::deliver_next() {
    const auto next = std::ranges::min_element(frames_, [](const FrameInFlight& a, const FrameInFlight& b) {
        return a.due != b.due ? a.due < b.due : a.order < b.order;
    });
    if (hung_[next->gateway]) { // the frame stays in its queue
        next->due += 100 * ms;
        return;
    }
    const PlacedFault* const fault = fault_at_next_point(*next);
    next->had_fault = next->had_fault || fault != nullptr;
    if (fault != nullptr && fault->fault == Fault::late) {
        next->due += 1300 * ms;
        return;
    }
    if (fault != nullptr && fault->fault >= Fault::gateway_restarts)
        return strike(fault->fault, next->gateway, next->from);
    FrameInFlight frame = std::move(*next);
    frames_.erase(next);
    deliver(std::move(frame), fault);
}

void Exchange::deliver(FrameInFlight f, const PlacedFault* fault) {
    wire::Frame frame{};
    std::memcpy(&frame, f.head.data(), sizeof frame);
    if (f.ticket != nullptr) sides_[f.from]->end.on_frame_sent(f.ticket);
    f.ticket = nullptr;
    if (fault != nullptr && fault->fault == Fault::lost_before_gateway) return;
    if (fault != nullptr && fault->fault == Fault::duplicated) {
        FrameInFlight copy = f;
        copy.due += 400 * ms;
        copy.order = order_++;
        frames_.push_back(std::move(copy));
    }
    answer_as_gateway(f, frame);
    const int to = 1 - f.from;
    if (frame.type == wire::FrameType::heartbeat || gone_[to] || !connected_[to][f.gateway]) return;
    if (fault != nullptr && fault->fault == Fault::lost_behind_gateway) return;
    sides_[to]->end.on_frame(f.gateway, f.head, f.data);
}

void Exchange::step() {
    ++steps_;
    uint64_t due = clock_ns + 500 * ms;
    for (const FrameInFlight& f : frames_) due = std::min(due, f.due);
    for (const Timer& t : timers_) due = std::min(due, t.due);
    for (int s = 0; s < 2; ++s)
        if (!gone_[s]) {
            due = std::min(due, std::max(sides_[s]->end.next_deadline_ns(), clock_ns + us));
            for (const auto& a : sides_[s]->announced) due = std::min(due, a->due);
        }
    clock_ns = std::max(clock_ns, due);
    const auto timer = std::ranges::find_if(timers_, [](const Timer& t) { return t.due <= clock_ns; });
    if (timer != timers_.end()) {
        const auto action = std::move(timer->action);
        timers_.erase(timer);
        action();
    }
    if (std::ranges::any_of(frames_, [](const FrameInFlight& f) { return f.due <= clock_ns; }))
        deliver_next();
    for (int s = 0; s < 2; ++s)
        if (!gone_[s]) sides_[s]->work();
}

void Exchange::exchange_all() {
    for (const auto& [from, bytes] : scenario.sends) sides_[from]->add_send(bytes);
    for (const auto& s : sides_) s->work();
    const Limit limit(*this);
    while (violation.empty() && !(over(0) && over(1))) {
        step();
        if (limit.exceeded()) return fail("not complete after " + limit.spent() + ": " + state());
    }
}

void Exchange::leave_in_turn() {
    for (int s = 0; s < 2 && violation.empty(); ++s) {
        sides_[s]->end.begin_shutdown();
        const Limit limit(*this);
        while (!over(s)) {
            step();
            if (limit.exceeded())
                return fail("side " + std::to_string(s) + " cannot disconnect after " + limit.spent() + ": " +
                            state());
        }
        gone_[s] = true;
        for (int g = 0; g < gateways; ++g) drop_frames(s, g);
    }
}

void Exchange::run() {
    exchange_all();
    if (!violation.empty()) return;
    if (peer_was_killed) { // late frames must not touch completed operations
        for (const uint64_t until = clock_ns + 8 * second; clock_ns < until;) step();
        return;
    }
    if (sides_[0]->arrived != sides_[1]->sends() || sides_[1]->arrived != sides_[0]->sends())
        return fail("idle, but not all messages arrived: " + state());
    leave_in_turn();
}

const char* name(Fault fault) {
    static const char* const names[] = {
        "lost_behind_gateway", "lost_before_gateway", "duplicated",           "late",
        "gateway_restarts",    "gateway_hangs",       "one_side_disconnects", "peer_killed"};
    return names[static_cast<int>(fault)];
}

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all{
        {"short", {{0, 8}, {1, 8}, {0, 1000}, {1, 0}, {0, 8}}, false},
        {"long", {{0, 300000}, {1, 8}, {0, 8}}, false},
        {"late", {{0, 300000}, {0, 8}, {1, 140000}}, true},
        {"both", {{0, 270000}, {1, 270000}, {0, 8}, {1, 8}}, true},
    };
    return all;
}

Result run(const Scenario& scenario, const std::vector<PlacedFault>& faults) {
    Exchange exchange(scenario, faults);
    exchange.run();
    return {exchange.points, exchange.violation};
}

} // namespace zipmpi::bridge::explore
