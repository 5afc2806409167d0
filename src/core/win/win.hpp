// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/attr/attr.hpp"
#include "core/errhandler/errhandler.hpp"

#include <string>

namespace zipmpi::core {

struct Win : Object {
    static constexpr Class class_id = Class::win;
    std::string name;
    Errhandler* errhandler = nullptr; // counted
    Attributes attributes;
};

} // namespace zipmpi::core
