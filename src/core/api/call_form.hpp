// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The form in which a collective is called: blocking, nonblocking or persistent. It is the first argument of
// a collective, and the entry point of each MPI function passes its own.
#pragma once

#include "core/object.hpp"

namespace zipmpi::core {

class CallForm {
  public:
    static constexpr CallForm blocking() { return {Kind::blocking, nullptr}; }
    static constexpr CallForm nonblocking(Request*& request) { return {Kind::nonblocking, &request}; }
    static constexpr CallForm persistent(Request*& request) { return {Kind::persistent, &request}; }

    [[nodiscard]] constexpr bool is_blocking() const { return kind_ == Kind::blocking; }
    [[nodiscard]] constexpr bool is_persistent() const { return kind_ == Kind::persistent; }
    // Where a call that is not blocking stores its request.
    [[nodiscard]] constexpr Request*& request() const { return *request_; }

  private:
    enum class Kind { blocking, nonblocking, persistent };
    constexpr CallForm(Kind kind, Request** request)
        : kind_(kind)
        , request_(request) {}

    Kind kind_;
    Request** request_; // null: blocking
};

} // namespace zipmpi::core
