// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Error handlers. A handler is shared by what uses it; the last user destroys one that the program has made.
#pragma once

#include "core/object.hpp"

namespace zipmpi::core {

struct Errhandler : Object {
    static constexpr Class class_id = Class::errhandler;
    enum class Kind { fatal, abort, give_back, user } kind = Kind::fatal;
    void* face_function = nullptr; // user: a function of the face's own type
};

Errhandler* share(Errhandler& handler);
void release(Errhandler*& handler);
// What holds a handler gets another one.
void replace(Errhandler*& current, Errhandler& handler);

} // namespace zipmpi::core
