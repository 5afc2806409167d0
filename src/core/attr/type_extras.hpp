// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What few programs attach to datatypes, kept beside them: attributes, and names.
#pragma once

#include "core/attr/attr.hpp"

#include <string>

namespace zipmpi::core {

struct TypeExtras {
    Attributes attributes;
    std::string name; // empty: that of the type itself
};
TypeExtras& extras_of(Datatype& type);
// For a type that is copied, before its handle is given out.
Err copy_type_attributes(Datatype& from, Datatype& to);
// For a type that is freed. On failure the type stays.
Err drop_type_extras(Datatype& type);

} // namespace zipmpi::core
