// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/attr/type_attributes.hpp"

#include "core/datatype/datatype.hpp"

#include <unordered_map>

namespace zipmpi::core {
namespace {

std::unordered_map<const Datatype*, Attributes>& all() {
    static std::unordered_map<const Datatype*, Attributes> attributes;
    return attributes;
}

} // namespace

Attributes& attributes_of(Datatype& type) { return all()[&type]; }

Err copy_type_attributes(Datatype& from, Datatype& to) {
    const auto at = all().find(&from);
    if (at == all().end() || at->second.empty()) return Err::success;
    const Attributes& old = at->second; // reference remains valid when the table grows
    return attributes_of(to).copy_from(old, from, to);
}

Err erase_type_attributes(Datatype& type) {
    const auto at = all().find(&type);
    if (at == all().end()) return Err::success;
    if (const Err e = at->second.erase_all(type); e != Err::success) return e;
    all().erase(&type);
    return Err::success;
}

} // namespace zipmpi::core
