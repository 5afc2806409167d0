// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A message found by a matched probe, waiting for its matched receive.
#pragma once

#include "core/object.hpp"
#include "proto/p2p/match.hpp"

namespace zipmpi::core {

struct Message : Object {
    static constexpr ObjectKind class_id = ObjectKind::message;
    proto::UnexpectedMessage* unexpected = nullptr; // null: the message of MPI_PROC_NULL
    Comm* comm = nullptr;                           // reference-counted
};

} // namespace zipmpi::core
