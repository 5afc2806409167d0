// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/errhandler/errhandler.hpp"

namespace zipmpi::core {

struct File : Object {
    static constexpr Class class_id = Class::file;
    Errhandler* errhandler = nullptr; // counted
};

} // namespace zipmpi::core
