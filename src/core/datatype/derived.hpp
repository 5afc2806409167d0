// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Data of every datatype that is not a named predefined one.
#pragma once

#include "base/err.hpp"
#include "core/api/common.hpp"
#include "core/datatype/datatype.hpp"
#include "core/datatype/type_shape.hpp"

namespace zipmpi::core {

// The arguments of the constructor, as MPI_Type_get_contents returns them.
struct Contents {
    Combiner combiner = Combiner::named;
    std::vector<int64_t> integers;
    std::vector<int64_t> addresses;
    std::vector<int64_t> large_counts;
    std::vector<Datatype*> types; // reference-counted
};

struct Derived {
    Contents contents;
    TypeShape shape;
    packing::LayoutPtr layout;
    std::string name;
    bool committed = false;
    int handles = 1;        // handles held by the application; attributes are deleted with the last one
    bool permanent = false; // an unnamed predefined type, which cannot be freed
};

inline const SignaturePtr& signature_of(const Datatype& type) {
    return type.derived != nullptr ? type.derived->shape.signature : signature_of(type.id);
}

// Creates a datatype and retains the types in its contents.
Err make_type(TypeShape shape, Contents contents, Datatype*& type);

} // namespace zipmpi::core
