// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The point-to-point steps that collective algorithms are made of. One Steps object per collective call: it
// draws the call's sequence number, which serves as tag and shows up in hang reports.
#pragma once

#include "proto/progress/wait.hpp"
#include "proto/team.hpp"

#include <cstdlib>
#include <memory>

namespace zipmpi::proto::coll {

class Steps {
  public:
    explicit Steps(Team& team)
        : team_(team)
        , sequence_(++team.collectives) {
        team.lane->counters().add(Counter::collectives);
    }

    Err send(const void* data, size_t bytes, int to) { return run(outgoing(data, bytes, to)); }
    Err recv(void* data, size_t bytes, int from) { return run(incoming(data, bytes, from)); }
    Err exchange(const void* out, size_t out_bytes, int to, void* in, size_t in_bytes, int from) {
        Operation r = incoming(in, in_bytes, from);
        Operation s = outgoing(out, out_bytes, to);
        const Err e = proto::exchange(*team_.lane, r, s, sequence_);
        return e != Err::success ? e : result_of(r);
    }

  private:
    [[nodiscard]] int tag() const { return static_cast<int>(sequence_ & 0x7fffffffU); }
    [[nodiscard]] Operation outgoing(const void* data, size_t bytes, int to) const {
        Operation op = make_send(team_, data, bytes, to, tag());
        op.context = team_.context + 1;
        return op;
    }
    [[nodiscard]] Operation incoming(void* data, size_t bytes, int from) const {
        Operation op = make_recv(team_, data, bytes, from, tag());
        op.context = team_.context + 1;
        return op;
    }
    void start(Operation& op) {
        op.kind == Operation::Kind::send ? team_.lane->start_send(op) : team_.lane->start_recv(op);
    }
    Err run(Operation op) {
        start(op);
        wait_for(*team_.lane, op, sequence_);
        return result_of(op);
    }
    // A message that is too long is found on the way; one that is too short here.
    static Err result_of(const Operation& op) {
        const bool short_of = op.kind == Operation::Kind::recv && op.received != op.bytes;
        return op.error == Err::success && short_of ? too_short(op) : op.error;
    }
    [[gnu::cold]] static Err too_short(const Operation& op) {
        return fail(
            Err::not_same,
            "call the same collective with the same count and datatype on all ranks of the communicator",
            "rank %d has sent %llu bytes in this collective, this rank expects %llu", op.matched_source,
            static_cast<unsigned long long>(op.received), static_cast<unsigned long long>(op.bytes));
    }

    Team& team_;
    uint32_t sequence_;
};

// Scratch memory of a collective; empty if memory is exhausted.
struct Free {
    void operator()(void* p) const { std::free(p); }
};
using Scratch = std::unique_ptr<void, Free>;
inline Scratch make_scratch(size_t bytes) { return Scratch(std::malloc(bytes != 0 ? bytes : 1)); }
inline Err no_scratch(size_t bytes) {
    return fail(Err::no_mem, "use smaller counts or free memory", "no memory for %zu bytes of scratch space",
                bytes);
}

} // namespace zipmpi::proto::coll
