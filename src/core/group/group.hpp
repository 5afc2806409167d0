// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/api.hpp"
#include "core/group/members.hpp"
#include "core/object.hpp"

namespace zipmpi::core {

struct Group : Object {
    static constexpr Class class_id = Class::group;
    Members members;
    int rank = -1;              // own, -1: no member
    Session* session = nullptr; // whose process set it comes from; null: none
};

// The empty group is always the predefined one.
Comparison compare(const Members& a, const Members& b);
Err make_group(Members members, Session* session, Group*& group);

} // namespace zipmpi::core
