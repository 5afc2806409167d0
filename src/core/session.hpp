// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "core/p2p/bsend_buffer.hpp"

#include <memory>

namespace zipmpi::core {

struct Session : Object {
    static constexpr ObjectKind class_id = ObjectKind::session;
    Errhandler* errhandler = nullptr; // reference-counted
    std::unique_ptr<BsendBuffer> bsend_buffer;
    Hints hints; // effective hints
};

} // namespace zipmpi::core
