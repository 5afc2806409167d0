// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Error handlers, reference-counted; the last user destroys a handler that the application created.
#pragma once

#include "core/object.hpp"

namespace zipmpi::core {

struct Errhandler : Object {
    static constexpr ObjectKind class_id = ObjectKind::errhandler;
    enum class Kind { fatal, abort, return_error, user } kind = Kind::fatal;
    void* user_function = nullptr; // user: a function with a type of the ABI
};

Errhandler* share(Errhandler& handler);
void release(Errhandler*& handler);
// Replaces the handler of an object.
void replace(Errhandler*& current, Errhandler& handler);

} // namespace zipmpi::core
