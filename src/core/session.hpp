// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/errhandler/errhandler.hpp"
#include "core/info/info.hpp"
#include "core/send_buffer.hpp"

#include <memory>

namespace zipmpi::core {

struct Session : Object {
    static constexpr Class class_id = Class::session;
    Errhandler* errhandler = nullptr; // counted
    std::unique_ptr<SendBuffer> send_buffer;
    Hints hints; // what holds for it
};

} // namespace zipmpi::core
