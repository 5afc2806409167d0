// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes of datatypes. Few programs have any: they are kept beside the types.
#pragma once

#include "core/attr/attr.hpp"

namespace zipmpi::core {

Attributes& attributes_of(Datatype& type);
// For a type that is copied, before its handle is given out.
Err copy_type_attributes(Datatype& from, Datatype& to);
// For a type that is freed. On failure the type stays.
Err erase_type_attributes(Datatype& type);

} // namespace zipmpi::core
