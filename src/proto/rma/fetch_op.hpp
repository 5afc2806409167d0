// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that complete after their call, with a result or on request.
#pragma once

#include "base/err.hpp"
#include "proto/rma/typed_buffer.hpp"

namespace zipmpi::proto::rma {

// Pending operation with results, alive until its last reply.
class FetchOp {
  public:
    TypedBuffer result;   // destination of fetched bytes
    uint32_t pending = 1; // replies, plus 1 while requests are being created
    Err error = Err::success;

    void complete_part() {
        if (--pending == 0) on_done();
    }

  protected:
    ~FetchOp() = default;

  private:
    virtual void on_done() = 0; // may destroy the operation
};

// Creates the FetchOp of a call that needs one: operations that fetch by active message or through a staging
// buffer, and immediate RDMA operations that complete later.
class FetchFactory {
  public:
    // immediate: a caller may wait for this operation alone.
    enum class Completion : uint8_t { at_flush, immediate };

    explicit FetchFactory(Completion completion)
        : completion_(completion) {}
    [[nodiscard]] virtual FetchOp* make() = 0; // null: no memory
    [[nodiscard]] bool immediate() const { return completion_ == Completion::immediate; }

  protected:
    ~FetchFactory() = default;

  private:
    Completion completion_;
};

[[gnu::cold]] inline Err no_memory_error() {
    return fail(Err::no_mem, "complete operations before starting more",
                "out of memory for a one-sided operation");
}

} // namespace zipmpi::proto::rma
