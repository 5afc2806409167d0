// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a datatype has that is not a named predefined one.
#pragma once

#include "base/err.hpp"
#include "core/api.hpp"
#include "core/datatype/datatype.hpp"
#include "core/datatype/shape.hpp"

namespace zipmpi::core {

// The arguments of the constructor, as MPI_Type_get_contents gives them back.
struct Contents {
    Combiner combiner = Combiner::named;
    std::vector<int64_t> integers;
    std::vector<int64_t> addresses;
    std::vector<int64_t> large_counts;
    std::vector<Datatype*> types; // counted
};

struct Derived {
    Contents contents;
    Shape shape;
    layout::ProgramPtr program;
    std::string name;
    bool committed = false;
    int handles = 1;        // that the program has: attributes go with the last of them
    bool permanent = false; // an unnamed predefined type cannot be freed
};

inline const SignaturePtr& signature_of(const Datatype& type) {
    return type.derived != nullptr ? type.derived->shape.signature : signature_of(type.id);
}

// Makes a datatype and takes a share in the types of its contents.
Err make_type(Shape shape, Contents contents, Datatype*& type);

} // namespace zipmpi::core
