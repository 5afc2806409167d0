// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A message that a matched probe has found: it waits for the one receive that names it.
#pragma once

#include "core/object.hpp"
#include "proto/p2p/match.hpp"

namespace zipmpi::core {

struct Message : Object {
    static constexpr Class class_id = Class::message;
    proto::Unexpected* waiting = nullptr; // null: the message of MPI_PROC_NULL
    Comm* comm = nullptr;                 // counted
};

} // namespace zipmpi::core
