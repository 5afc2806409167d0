// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/attr/type_extras.hpp"

#include "core/api.hpp"
#include "core/datatype/datatype.hpp"

#include <unordered_map>

namespace zipmpi::core {
namespace {

std::unordered_map<const Datatype*, TypeExtras>& all() {
    static std::unordered_map<const Datatype*, TypeExtras> extras;
    return extras;
}

} // namespace

TypeExtras& extras_of(Datatype& type) { return all()[&type]; }

Err copy_type_attributes(Datatype& from, Datatype& to) {
    const auto at = all().find(&from);
    if (at == all().end() || at->second.attributes.empty()) return Err::success;
    const Attributes& old = at->second.attributes; // stays where it is when the table grows
    return extras_of(to).attributes.copy_from(old, from, to);
}

Err drop_type_extras(Datatype& type) {
    const auto at = all().find(&type);
    if (at == all().end()) return Err::success;
    if (const Err e = at->second.attributes.erase_all(type); e != Err::success) return e;
    all().erase(&type);
    return Err::success;
}

Err type_set_name(Datatype& type, const char* name) {
    extras_of(type).name = name;
    return Err::success;
}

Err type_get_name(Datatype* type, std::string& name) {
    const auto at = all().find(type);
    const char* const own = type != nullptr ? type->name : "MPI_DATATYPE_NULL";
    name = at != all().end() && !at->second.name.empty() ? at->second.name : own;
    return Err::success;
}

} // namespace zipmpi::core
