// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes of datatypes, stored outside the datatype objects because few programs use them.
#pragma once

#include "core/attr/attr.hpp"

namespace zipmpi::core {

Attributes& attributes_of(Datatype& type);
// Copies attributes to a duplicated type before its handle is returned.
Err copy_type_attributes(Datatype& from, Datatype& to);
// Deletes the attributes of a type that is being freed. On failure the type is kept.
Err erase_type_attributes(Datatype& type);

} // namespace zipmpi::core
