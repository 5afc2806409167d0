// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement, and the communicators that follow from it.
#include "core/comm/make.hpp"
#include "core/fault/fault.hpp"
#include "core/state.hpp"
#include "proto/coll/coll.hpp"
#include "proto/progress/wait.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

// "0-3,7": ranks of the job.
std::string runs_of(const Members& members) {
    std::vector<int> ranks(static_cast<size_t>(members.size()));
    for (int r = 0; r < members.size(); ++r) ranks[static_cast<size_t>(r)] = members[r];
    std::sort(ranks.begin(), ranks.end());
    std::string text;
    for (size_t i = 0; i < ranks.size();) {
        size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
        if (end > i + 1) text += "-" + std::to_string(ranks[end - 1]);
        i = end;
    }
    return text;
}

std::vector<int> all_members(const Comm& comm) {
    std::vector<int> ranks;
    const auto add = [&](const proto::Team& t) {
        for (int r = 0; r < t.size; ++r) ranks.push_back(t.map.world(r));
    };
    add(comm.own_team());
    if (comm.inter()) add(comm.team);
    return ranks;
}

// Those that had not failed when so many ranks of the job had.
std::vector<int> living(std::vector<int> ranks, uint32_t failures) {
    for (uint32_t i = 0; i < failures; ++i) std::erase(ranks, engine()->segment.failed_rank(i));
    return ranks;
}

struct Said {
    uint32_t flags;
    uint32_t value;
};

Err agree_by_collective(Comm& comm, uint32_t flags, uint32_t value, boot::Decided& decided) {
    Said said{flags, value};
    proto::coll::Combine both;
    both.apply = [](const void* in, void* inout, int64_t) {
        auto& to = *static_cast<Said*>(inout);
        to.flags &= static_cast<const Said*>(in)->flags;
        to.value = std::max(to.value, static_cast<const Said*>(in)->value);
    };
    both.count = 1;
    both.element_bytes = sizeof said;
    if (comm.inter())
        return fail(Err::unsupported_operation, "start the program with ZipMPI's mpiexec",
                    "this launcher cannot help two groups to agree");
    const Err e = proto::coll::allreduce(comm.team, &said, both);
    decided.flags = said.flags;
    decided.value = said.value;
    return e;
}

struct Waiter {
    boot::Decided* decided;
    bool done;
    bool look() {
        const Engine& e = *engine();
        if (!done) done = e.segment.take_decision(static_cast<uint32_t>(e.job.local_index), *decided);
        return done;
    }
};

} // namespace

Err agree(Comm& comm, uint32_t flags, uint32_t value, boot::Decided& decided) {
    decided = {comm.team.context, ++comm.agreements, flags, value, 0};
    if (!comm.inter() && comm.team.size == 1) return Err::success;
    Engine& e = *engine();
    const std::string words = "what=agree context=" + std::to_string(decided.context) +
                              " number=" + std::to_string(decided.number) +
                              " flags=" + std::to_string(flags) + " value=" + std::to_string(value) +
                              " members=" + runs_of(Members(all_members(comm)));
    if (e.job.protocol != boot::Protocol::mpiexec || e.job.launcher == nullptr)
        return agree_by_collective(comm, flags, value, decided);
    if (!e.job.launcher->tell(words))
        return fail(Err::other, "use communicators whose ranks lie side by side",
                    "the launcher does not take the list of %d members", comm.team.size);
    Waiter waiter{&decided, false};
    const proto::Operation nothing;
    proto::WaitNote note = proto::note_on(nothing);
    note.last_look = [](void* w) { return static_cast<Waiter*>(w)->look(); };
    note.waiter = &waiter;
    proto::wait_until(
        lane(), [&] { return waiter.look(); }, note);
    lane().look_for_news(); // failures that the decision counts are in the segment before it
    return Err::success;
}

// A failure that some member has not acknowledged is an error, the same on all.
Err comm_agree(Comm& comm, int& flag) {
    boot::Decided decided;
    // of the values the largest counts: here the smallest is wanted
    if (const Err e = agree(comm, static_cast<uint32_t>(flag), ~comm.acknowledged, decided);
        e != Err::success)
        return e;
    flag = static_cast<int>(decided.flags);
    const uint32_t acknowledged = ~decided.value;
    const auto failed =
        static_cast<uint32_t>(all_members(comm).size() - living(all_members(comm), decided.failed).size());
    if (failed <= acknowledged) return Err::success;
    return fail(Err::proc_failed, "acknowledge failures with MPIX_Comm_ack_failed before the call",
                "%u members have failed, and not all members have acknowledged that", failed);
}

// First all agree on who lives, then on a context, which the first of those draws. If one dies in between
// they begin again.
Err comm_shrink(Comm& comm, Comm*& result) {
    if (comm.inter()) return not_intra(comm);
    for (;;) {
        boot::Decided who;
        if (const Err e = agree(comm, 0, 0, who); e != Err::success) return e;
        const std::vector<int> ranks = living(all_members(comm), who.failed);
        const int self = engine()->job.rank;
        const auto own = std::find(ranks.begin(), ranks.end(), self);
        if (own == ranks.end()) // somebody else has given this rank up
            return fail(Err::proc_failed, "end this process", "the other ranks take this one for failed");
        const int holders = static_cast<int>(ranks.size());
        const uint32_t drawn = ranks.front() == self ? draw_context(holders) : 0;
        boot::Decided context;
        if (const Err e = agree(comm, 0, drawn, context); e != Err::success) return e;
        if (context.failed != who.failed) {
            for (int i = 0; drawn != 0 && i < holders; ++i) give_back_context(drawn);
            continue;
        }
        if (context.value == 0) return no_context();
        result = make_comm(make_team(Members(ranks), static_cast<int>(own - ranks.begin()), context.value),
                           "", *comm.errhandler);
        if (result == nullptr) return no_comm();
        result->session = comm.session;
        return Err::success;
    }
}

} // namespace zipmpi::core
