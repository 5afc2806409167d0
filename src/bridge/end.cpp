// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Flows and lanes: what is due, what is lost, what returns.
#include "bridge/end.hpp"

#include "bridge/end_parts.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::bridge {
namespace {

constexpr uint64_t never = ~uint64_t{0};
constexpr uint64_t sample_ns = 1'000'000;
constexpr double weight_of_new = 0.25;
constexpr uint64_t returning_beats = 3; // ranks greet what they have lost every two and a half

// What happened meanwhile may be younger than `now`.
uint64_t since(uint64_t now, uint64_t then) { return now > then ? now - then : 0; }

size_t at(int lane) { return static_cast<size_t>(lane); }

} // namespace

End::End(int own_id, uint64_t job, int lanes, const EndLimits& limits, const transport::ucx::Sink& sink,
         const EndWorld& world)
    : own_id_(own_id)
    , job_(job)
    , limits_(limits)
    , sink_(sink)
    , world_(world)
    , lanes_(at(lanes)) {}

End::~End() {
    for (const auto& f : flows_) {
        for (const Piece* piece : f->window) delete piece;
        for (const Piece* piece : f->ready)
            if (piece->acknowledged) delete piece;
        for (const auto& [sequence, m] : f->long_sends)
            for (size_t i = 1; i < m->under_way.size(); ++i) delete m->under_way[i];
    }
}

Peer End::flow(int world_rank) {
    const auto known = by_rank_.find(world_rank);
    if (known != by_rank_.end()) return known->second;
    const auto index = static_cast<Peer>(flows_.size());
    by_rank_.emplace(world_rank, index);
    Flow& f = *flows_.emplace_back(std::make_unique<Flow>());
    f.world_rank = world_rank;
    f.index = index;
    f.lanes = world_.lanes_to(world_.subject, world_rank);
    return index;
}

int End::rank_of(Peer peer) const { return flows_[peer]->world_rank; }

void End::give_up(int world_rank) {
    Flow& f = *flows_[flow(world_rank)];
    if (!f.failed) fail(f);
}

void End::take(int lane, std::span<const std::byte> head, std::span<const std::byte> data) {
    FrameView v;
    FrameView inside;
    std::vector<std::byte> opened = std::exchange(opened_, {});
    const bool whole = read_frame(head, data, job_, v);
    const bool sealed = whole && world_.sealer != nullptr && v.frame.type < wire::FrameType::credit;
    const bool readable = sealed ? unseal(v, head, data, opened, inside) : whole && !v.sealed;
    if (readable && v.frame.to == own_id_)
        take(lane, sealed ? inside : v);
    else
        ++counters_.refused;
    opened_ = std::move(opened);
}

void End::take(int lane, const FrameView& v) {
    ++counters_.frames_in;
    lanes_[at(lane)].heard_ns = world_.now_ns();
    lanes_[at(lane)].asked_ns = 0;
    if (!lanes_[at(lane)].up) lane_up(lane);
    if (v.frame.type >= wire::FrameType::credit) return take_from_gateway(lane, v);
    Flow& f = *flows_[flow(v.frame.from)];
    if (f.failed) return;
    f.heard_lane = lane;
    if (v.has_ack) take_ack(f, v.ack.next, {&v.ack.seen, 1});
    wire::AckBitmap ack{};
    wire::Grant grant{};
    if (v.frame.type == wire::FrameType::message)
        take_message(f, v);
    else if (v.frame.type == wire::FrameType::chunk)
        take_chunk(f, v);
    else if (read_ack(v, ack))
        take_ack(f, ack.next, ack.seen);
    else if (read_grant(v, grant))
        take_grant(f, v.frame.sequence, grant);
    else if (v.frame.type == wire::FrameType::grant && v.data.empty())
        answer_question(f, v.frame.sequence);
    pump();
}

void End::take_from_gateway(int lane, const FrameView& v) {
    Lane& l = lanes_[at(lane)];
    if (v.frame.type == wire::FrameType::credit) take_credit(l, v.frame.length);
    if (v.frame.type == wire::FrameType::beat && v.frame.sequence <= l.said)
        l.confirmed = std::max(l.confirmed, v.frame.sequence);
    pump();
}

void End::take_credit(Lane& lane, uint64_t bytes) {
    lane.with_gateway -= std::min(bytes, lane.with_gateway);
    lane.sampled_bytes += bytes;
    const uint64_t now = world_.now_ns();
    const uint64_t took = now - lane.sampled_ns;
    if (took < sample_ns) return;
    // Only a lane that was never empty in between shows how fast it is.
    if (lane.with_gateway != 0 && took < 100 * sample_ns)
        lane.ns_per_byte +=
            weight_of_new *
            (static_cast<double>(took) / static_cast<double>(lane.sampled_bytes) - lane.ns_per_byte);
    lane.sampled_ns = now;
    lane.sampled_bytes = 0;
}

void End::put_on(int l, Piece& piece) {
    Lane& lane = lanes_[at(l)];
    piece.lane = l;
    piece.sent_ns = world_.now_ns();
    if (piece.type == wire::FrameType::chunk) bulk_ns_ = piece.sent_ns;
    piece.lane_place = lane.first + lane.pieces.size();
    lane.pieces.push_back(&piece);
    if (lane.with_gateway == 0) {
        lane.sampled_ns = piece.sent_ns;
        lane.sampled_bytes = 0;
    }
    lane.with_gateway += piece.data.size() + piece.head_bytes + sizeof(wire::Frame);
}

void End::take_off(Piece& piece) {
    if (piece.lane < 0) return;
    Lane& lane = lanes_[at(piece.lane)];
    piece.lane = -1;
    lane.pieces[piece.lane_place - lane.first] = nullptr;
    while (!lane.pieces.empty() && lane.pieces.front() == nullptr) {
        lane.pieces.pop_front();
        ++lane.first;
    }
}

void End::send_again(Piece& piece) {
    take_off(piece);
    if (!piece.queued) queue(*piece.flow, piece, false);
}

void End::lane_up(int l) {
    Lane& lane = lanes_[at(l)];
    if (lane.up) return;
    lane.up = true;
    lane.confirmed = lane.said;
    lane.with_gateway = 0;
    lane.asked_ns = 0;
    lane.heard_ns = world_.now_ns();
    if (std::exchange(lane.was_lost, false))
        lane.trusted_from_ns = lane.heard_ns + returning_beats * limits_.beat_ns;
    for (const auto& f : flows_)
        if (std::exchange(f->alone_since_ns, 0) != 0) send_state(*f);
    pump();
}

void End::lane_down(int l) {
    Lane& lane = lanes_[at(l)];
    if (!lane.up) return;
    lane.up = false;
    lane.was_lost = true;
    lane.with_gateway = 0;
    ++counters_.lanes_lost;
    const std::deque<Piece*> lost = lane.pieces;
    for (Piece* piece : lost)
        if (piece != nullptr) send_again(*piece);
    for (const auto& f : flows_)
        if (std::ranges::count(f->lanes, l) != 0) send_state(*f);
    pump();
}

void End::reroute() {
    for (const auto& f : flows_) {
        f->lanes = world_.lanes_to(world_.subject, f->world_rank);
        send_state(*f);
    }
    for (Lane& lane : lanes_) {
        const std::deque<Piece*> pieces = lane.pieces;
        for (Piece* piece : pieces)
            if (piece != nullptr && std::ranges::count(piece->flow->lanes, piece->lane) == 0)
                send_again(*piece);
    }
    pump();
}

// What may have been on a lane that is lost: acknowledgements and grants.
void End::send_state(Flow& f) {
    if (f.failed) return;
    if (f.deliver_next != 0 || !f.early.empty()) owe_ack(f, limits_.ack_bytes);
    for (const auto& [sequence, m] : f.long_receives)
        if (m->posted && !send_grant(*m)) m->owed_ns = world_.now_ns();
    for (const auto& [sequence, m] : f.long_sends) ask_how_far(*m);
}

bool End::has_lane(const Flow& f) const {
    return std::ranges::any_of(f.lanes, [&](int l) { return lanes_[at(l)].up; });
}

// Where the other end was heard last: it sends there, so that lane is probably well.
int End::control_lane(const Flow& f) const {
    for (const int l : {f.heard_lane, f.last_lane})
        if (l >= 0 && lanes_[at(l)].up && std::ranges::count(f.lanes, l) != 0) return l;
    for (const int l : f.lanes)
        if (lanes_[at(l)].up) return l;
    return -1;
}

int End::advance() {
    const uint64_t now = world_.now_ns();
    int happened = busy_.empty() ? 0 : pump();
    looked_now_ns_ = now;
    if (now >= acks_owed_ns_) {
        pay(now, now);
        ++happened;
    }
    happened += look_after_leaving(now);
    constexpr uint64_t looks_per_beat = 8;
    if (now - looked_ns_ < limits_.beat_ns / looks_per_beat) return happened;
    looked_ns_ = now;
    if (!awaits_something()) return happened;
    return happened + look_after_lanes(now) + look_after_flows(now);
}

void End::flush_before_sleep() {
    pay(never, world_.now_ns());
    static_cast<void>(look_after_leaving(world_.now_ns())); // what was paid is the last that is said
}

void End::pay(uint64_t acks_until, uint64_t grants_until) {
    acks_owed_ns_ = never;
    const uint64_t retry = world_.now_ns() + limits_.ack_ns;
    const auto later = [this](uint64_t ns) { acks_owed_ns_ = std::min(acks_owed_ns_, ns); };
    for (const auto& f : flows_) {
        if (f->owed_ns == 0 || f->failed) continue;
        if (f->owed_ns > acks_until)
            later(f->owed_ns);
        else if (!send_ack(*f))
            later(retry);
    }
    for (const auto& [key, m] : receives_) {
        if (m->owed_ns == 0) continue;
        if (m->posted && m->owed_ns > grants_until)
            later(m->owed_ns);
        else if (!send_grant(*m))
            later(retry);
    }
}

bool End::ask(int l, uint64_t now) {
    Lane& lane = lanes_[at(l)];
    wire::Frame frame{};
    frame.type = wire::FrameType::beat;
    frame.job = job_;
    frame.from = own_id_;
    frame.lane = static_cast<uint8_t>(l);
    frame.sequence = lane.said;
    close(frame);
    lane.asked_ns = now;
    ++counters_.control_out;
    return world_.send(world_.subject, l, std::as_bytes(std::span(&frame, 1)), {}, nullptr) != Posted::failed;
}

void End::ask_all() {
    const uint64_t now = world_.now_ns();
    for (int l = 0; l < static_cast<int>(lanes_.size()); ++l)
        if (lanes_[at(l)].up) static_cast<void>(ask(l, now));
}

// Frames that may have been lost behind a gateway that is well; each time after twice the time.
int End::send_late_again(const Lane& lane, uint64_t now) {
    constexpr uint32_t most_doublings = 5;
    const std::deque<Piece*> pieces = lane.pieces;
    int happened = 0;
    for (Piece* piece : pieces) {
        if (piece == nullptr) continue;
        if (since(now, piece->sent_ns) < limits_.resend_ns) break; // as are all after it
        if (since(now, piece->sent_ns) < limits_.resend_ns << std::min(piece->times - 1, most_doublings))
            continue;
        send_again(*piece);
        ++happened;
    }
    return happened;
}

bool End::close_if_silent(int l, uint64_t now) {
    const Lane& lane = lanes_[at(l)];
    if (lane.asked_ns == 0 || since(now, lane.asked_ns) < limits_.silence_ns - limits_.beat_ns) return false;
    lane_down(l);
    world_.close_lane(world_.subject, l);
    return true;
}

int End::look_after_lanes(uint64_t now) {
    int happened = 0;
    for (int l = 0; l < static_cast<int>(lanes_.size()); ++l) {
        Lane& lane = lanes_[at(l)];
        if (!lane.up || (lane.pieces.empty() && !waits_for_gateway(lane))) continue;
        const uint64_t oldest = lane.pieces.empty() ? lane.said_ns : lane.pieces.front()->sent_ns;
        const uint64_t silent = since(now, std::max(lane.heard_ns, oldest));
        if (close_if_silent(l, now))
            ++happened;
        else if (lane.asked_ns == 0 && silent >= limits_.beat_ns)
            static_cast<void>(ask(l, now));
        happened += lane.up ? send_late_again(lane, now) : 0;
    }
    if (happened != 0) pump();
    return happened;
}

int End::look_after_flows(uint64_t now) {
    int happened = 0;
    for (size_t i = 0; i < flows_.size(); ++i) {
        Flow& f = *flows_[i];
        if (f.failed) continue;
        const bool wants = !f.window.empty() || !f.long_sends.empty() || !f.long_receives.empty();
        if (has_lane(f) || !wants) {
            f.alone_since_ns = 0;
        } else if (f.alone_since_ns == 0) {
            f.alone_since_ns = now;
        } else if (now - f.alone_since_ns >= limits_.grace_ns) {
            fail(f);
            ++happened;
            continue;
        }
        for (const auto& [sequence, m] : f.long_receives)
            if (m->posted && since(now, m->heard_ns) >= limits_.resend_ns && send_grant(*m))
                m->heard_ns = now;
        for (const auto& [sequence, m] : f.long_sends)
            if (since(now, m->heard_ns) >= limits_.resend_ns) ask_how_far(*m);
    }
    return happened;
}

bool End::awaits_something() const {
    return unacknowledged_ != 0 || !busy_.empty() || !receives_.empty() || !no_gateway_owes() ||
           open_long_sends_ != 0;
}

uint64_t End::next_deadline_ns() const {
    return std::min(acks_owed_ns_, awaits_something() ? looked_ns_ + limits_.beat_ns / 4 : never);
}

bool End::idle() const {
    return unacknowledged_ == (leaving_since_ns_ != 0 ? notices_ : 0) && acks_owed_ns_ == never &&
           (leaving_since_ns_ == 0 || all_confirmed()) && open_long_sends_ == 0;
}

void End::leaving(bool yes) {
    leaving_since_ns_ = yes ? world_.now_ns() : 0;
    if (yes) static_cast<void>(look_after_leaving(leaving_since_ns_));
}

// What was said on a lane that died meanwhile is not said again by anybody: so it is asked for that, too.
void End::count_said(Lane& lane) {
    if (!unconfirmed(lane)) lane.said_ns = world_.now_ns();
    ++lane.said;
}

int End::look_after_leaving(uint64_t now) {
    if (leaving_since_ns_ == 0) return 0;
    int happened = 0;
    for (int l = 0; l < static_cast<int>(lanes_.size()); ++l) {
        const Lane& lane = lanes_[at(l)];
        if (!unconfirmed(lane)) continue;
        if (lane.asked_ns == 0) static_cast<void>(ask(l, now));
        happened += static_cast<int>(close_if_silent(l, now));
    }
    if (since(now, leaving_since_ns_) < limits_.grace_ns) return happened; // they have left themselves
    for (const auto& f : flows_) {
        if (f->failed || (f->window.empty() && f->long_sends.empty())) continue;
        fail(*f);
        ++happened;
    }
    return happened;
}

uint64_t End::retained_bytes() const {
    uint64_t bytes = 0;
    for (const auto& f : flows_) {
        bytes += f->retained;
        for (const auto& [sequence, early] : f->early) bytes += early.data.size();
    }
    return bytes;
}

} // namespace zipmpi::bridge
