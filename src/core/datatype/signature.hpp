// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The basic types of a datatype in packed order, without their places: what MPI_Get_elements counts and what
// external32 converts. Repetitions are kept as such, so that a signature is about as long as the declaration
// of the datatype.
#pragma once

#include "core/builtin.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace zipmpi::core {

struct Signature;
using SignaturePtr = std::shared_ptr<const Signature>;

struct Term {
    SignaturePtr what; // null: the basic type
    TypeId basic{};
    int64_t count = 0;
};

struct Signature {
    std::vector<Term> terms;
    int64_t bytes = 0;
    int64_t elements = 0; // basic ones
};

int64_t bytes_of(const Term& term);    // of one
int64_t elements_of(const Term& term); // of one

// Of a named predefined type. Pairs have two basic types.
const SignaturePtr& signature_of(TypeId id);
// A pair of these two.
bool is_pair(TypeId id, TypeId value, TypeId index);
SignaturePtr repeated(const SignaturePtr& what, int64_t count);
SignaturePtr joined(const std::vector<SignaturePtr>& parts);

// How many basic elements the first `bytes` bytes of so many datatypes hold; false: the last one is cut.
bool elements_in(const Signature& signature, int64_t bytes, int64_t& elements);
// How many bytes the first `elements` basic elements have, if datatypes follow without end.
int64_t bytes_in(const Signature& signature, int64_t elements);

} // namespace zipmpi::core
