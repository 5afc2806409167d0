// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/api/common.hpp"
#include "core/group/members.hpp"
#include "core/object.hpp"

namespace zipmpi::core {

struct Group : Object {
    static constexpr ObjectKind class_id = ObjectKind::group;
    Members members;
    int rank = -1;              // rank of this process; -1: not a member
    Session* session = nullptr; // session of its process set; null: none
};

// The empty group is always the predefined one.
Comparison compare(const Members& a, const Members& b);
Err make_group(Members members, Session* session, Group*& group);

} // namespace zipmpi::core
