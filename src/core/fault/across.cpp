// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of an agreement that concerns processes of several jobs: rounds of messages, after each of which
// all members of a job know the same.
#include "core/fault/agreement.hpp"
#include "core/fault/fault.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"
#include "worlds/network.hpp"

#include <cstring>
#include <map>

namespace zipmpi::core {
namespace {

// What travels of each job: its word, if it is known.
struct Known {
    uint32_t known = 0;
    Word word;
};
static_assert(sizeof(Known) == 12);

size_t message_bytes(size_t worlds, size_t members) { return worlds * sizeof(Known) + (members + 7) / 8; }

} // namespace

void Agreement::find_worlds() {
    std::map<uint64_t, std::vector<int>> by_number;
    const worlds::WorldsNetwork* const network = engine()->worlds;
    for (size_t p = 0; p < members_.size(); ++p)
        by_number[network != nullptr ? network->name_of(members_[p]).world : 0].push_back(
            static_cast<int>(p));
    world_of_.resize(members_.size());
    for (auto& [number, positions] : by_number) {
        for (const int p : positions) world_of_[static_cast<size_t>(p)] = worlds_.size();
        worlds_.push_back({std::move(positions), {}, false, -1});
    }
    own_world_ = world_of_[static_cast<size_t>(own_)];
}

void Agreement::own_world_has_spoken() {
    World& own = worlds_[own_world_];
    own.known = true;
    own.word = {here_.flags, here_.value};
    for (uint32_t i = 0; i < here_.failed; ++i) {
        const int rank = engine()->segment.failed_rank(i);
        for (const int p : own.positions)
            if (members_[static_cast<size_t>(p)] == rank) failed_[static_cast<size_t>(p)] = true;
    }
    worlds_.size() > 1 ? exchange() : conclude();
}

// Each process of another job gets the same, and says as much.
void Agreement::exchange() {
    ++round_;
    out_ = packed();
    in_.assign(members_.size(), {});
    begin_steps(&Agreement::exchanged);
    for (size_t w = 0; w < worlds_.size(); ++w) {
        if (w == own_world_) continue;
        for (const int p : worlds_[w].positions) {
            std::string& room = in_[static_cast<size_t>(p)];
            room.resize(out_.size());
            receive_from(p, room.data(), room.size());
            send_to(p, out_.data(), out_.size());
        }
    }
    launch_steps();
}

// A job is heard if one of its members is. Who has not heard it takes all of them for dead.
void Agreement::exchanged() {
    for (World& w : worlds_) w.heard = -1;
    for (const Step& s : steps_) {
        if (s.kind == proto::Operation::Kind::recv && s.error == Err::success)
            worlds_[world_of_[static_cast<size_t>(s.peer)]].heard = s.peer;
    }
    uint32_t heard = 0;
    for (size_t w = 0; w < worlds_.size(); ++w)
        if (worlds_[w].heard >= 0) heard |= 1U << w;
    agree_here({heard, 0}, &Agreement::round_done);
}

void Agreement::round_done() {
    for (size_t w = 0; w < worlds_.size(); ++w)
        if ((here_.flags & 1U << w) != 0) unpack(in_[static_cast<size_t>(worlds_[w].heard)]);
    round_ + 1 < worlds_.size() ? exchange() : conclude();
}

void Agreement::conclude() {
    for (const World& w : worlds_) {
        if (w.known) result_.add(w.word);
        for (const int p : w.positions) {
            const auto at = static_cast<size_t>(p);
            if (!w.known) failed_[at] = true;
            if (failed_[at] && wire::is_foreign(members_[at])) lose_foreign(members_[at]);
        }
    }
    end(Err::success);
}

// This job cannot take part: the others must not wait for it.
void Agreement::cut_off(Err error) {
    for (const int rank : members_)
        if (wire::is_foreign(rank)) lose_foreign(rank);
    end(error);
}

std::string Agreement::packed() const {
    std::string bytes(message_bytes(worlds_.size(), members_.size()), '\0');
    char* at = bytes.data();
    for (const World& w : worlds_) {
        const Known known{w.known ? 1U : 0U, w.word};
        std::memcpy(at, &known, sizeof known);
        at += sizeof known;
    }
    for (size_t p = 0; p < failed_.size(); ++p)
        if (failed_[p]) at[p / 8] = static_cast<char>(at[p / 8] | 1 << p % 8);
    return bytes;
}

void Agreement::unpack(const std::string& bytes) {
    const char* const bits = bytes.data() + worlds_.size() * sizeof(Known);
    for (size_t i = 0; i < worlds_.size(); ++i) {
        World& w = worlds_[i];
        Known known;
        std::memcpy(&known, bytes.data() + i * sizeof known, sizeof known);
        if (w.known || known.known == 0) continue;
        w.known = true;
        w.word = known.word;
        for (const int p : w.positions) failed_[static_cast<size_t>(p)] = (bits[p / 8] >> p % 8 & 1) != 0;
    }
}

} // namespace zipmpi::core
