// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/coll_buffer.hpp"

#include "proto/coll/shm/coll_memory.hpp"

namespace zipmpi::proto::coll {

CollBuffer::CollBuffer(const Team& team, const wire::CollBufferGeometry& geometry, uint64_t offset,
                       SyncMethod method)
    : segment_(team.engine->shm().segment())
    , offset_(offset)
    , method_(method)
    , view_(segment_.coll_memory(offset), geometry)
    , members_(team)
    , faults_(*team.engine, team.context + 1)
    , banks_(view_, members_)
    , wait_(team, view_, members_, faults_) {}

CollBuffer::~CollBuffer() {
    if (view_.head().members.value.fetch_sub(1, std::memory_order_acq_rel) == 1)
        free_coll_memory(segment_, offset_, view_.geometry().total_bytes());
}

uint32_t CollBuffer::begin(Leave leave, const CollSignature& call, uint32_t late) {
    signature_.begin(call);
    const uint32_t op = banks_.begin(late);
    if (leave == Leave::early) banks_.publish_if_lagging();
    if (!banks_.is_bank_free(op)) wait_for_bank(op - view_.depth());
    view_.slot_head(op, self()).signature.store(signature_.own(), std::memory_order_relaxed);
    wait_.enter(op);
    return op;
}

// If signatures differ, at least one member differs from the releasing one.
int CollBuffer::find_mismatch(uint32_t op) const {
    for (int r = 0; r < members(); ++r)
        if (view_.slot_head(op, r).signature.load(std::memory_order_relaxed) != signature_.own()) return r;
    return self();
}

Err CollBuffer::result() {
    if (faults_.has_failed()) [[unlikely]]
        return faults_.error();
    const int other = signature_.take_mismatch();
    return other < 0 ? Err::success : signature_.mismatch_error(members_.rank_of(other));
}

void CollBuffer::wait_longer(const CollWait& w) {
    banks_.publish_all();
    wait_.sleep(w, signature_.sequence());
}

// Waits for one member at a time, from the last rank down; the others usually arrive in the meantime.
void CollBuffer::wait_for_bank(uint32_t op) {
    for (int r = members() - 1; r >= 0; --r) {
        // pairs with BankProgress::publish(): the member has finished reading
        const AwaitedWord done{&view_.member(r).done, op};
        if (r != self() && !done.is_reached()) wait_for(done, op, r, SleepReason::bank);
    }
    banks_.set_all_done(op);
}

void CollBuffer::mark_filled(uint32_t op, int member) {
    view_.slot_head(op, member).seq.store(op, std::memory_order_release); // pairs with wait_filled()
}

void CollBuffer::set_flag_for(uint32_t op, int member) {
    view_.slot_head(op, member).seq.store(op, std::memory_order_seq_cst); // pairs with wait_filled()
    members_.wake(view_.head().sleepers);
}

void CollBuffer::wait_filled(uint32_t op, int member, int by) {
    const wire::SlotHead& filled = view_.slot_head(op, member);
    wait_for({&filled.seq, op}, op, member);
    const wire::SlotHead& writer = by == member ? filled : view_.slot_head(op, by);
    signature_.compare(by, writer.signature.load(std::memory_order_relaxed));
}

bool CollBuffer::arrive(uint32_t op) {
    uint32_t& due = expected_arrivals_[view_.bank(op)];
    due += static_cast<uint32_t>(members());
    view_.slot_head(op, self()).seq.store(op, std::memory_order_relaxed); // for hang reports
    // Pairs with itself and arrive_and_wait(): the last member sees the data of all.
    const uint32_t not_arrived = due - 1 - view_.arrived(op).value.fetch_add(1, std::memory_order_seq_cst);
    wait_.set_not_arrived(not_arrived);
    return not_arrived == 0;
}

void CollBuffer::release(uint32_t op) {
    auto& released = view_.released(op);
    released.signature.store(signature_.own(), std::memory_order_relaxed);
    released.value.store(op, std::memory_order_seq_cst);
    members_.wake(view_.head().sleepers);
}

void CollBuffer::wait_release(uint32_t op) {
    wait_for({&view_.released(op).value, op}, op, -1); // pairs with release()
    const uint32_t released = view_.released(op).signature.load(std::memory_order_relaxed);
    if (released != signature_.own()) [[unlikely]]
        signature_.record_mismatch(find_mismatch(op), released);
}

void CollBuffer::wait_other_flags(uint32_t op) {
    for (int r = 0; r < members(); ++r)
        if (r != self()) wait_flag(op, r);
}

void CollBuffer::sync(uint32_t op, uint32_t late) {
    if (uses_flags()) {
        set_flag(op);
        wait_other_flags(op);
    } else if (arrive(op)) {
        release(op);
    } else {
        wait_release(op);
    }
    set_all_arrived(op, late); // an arrived member has finished all earlier operations
}

void CollBuffer::arrive_and_leave(uint32_t op) {
    if (uses_flags())
        set_flag(op);
    else if (arrive(op))
        members_.wake(view_.head().sleepers);
}

void CollBuffer::arrive_and_wait(uint32_t op) {
    if (uses_flags()) {
        set_flag(op);
        wait_other_flags(op);
    } else if (arrive(op)) {
        members_.wake(view_.head().sleepers);
    } else {
        wait_for({&view_.arrived(op).value, expected_arrivals_[view_.bank(op)]}, op, -1);
    }
    set_all_arrived(op);
    const int next = (self() + 1) % members();
    if (!uses_flags())
        signature_.compare(next, view_.slot_head(op, next).signature.load(std::memory_order_relaxed));
}

} // namespace zipmpi::proto::coll
