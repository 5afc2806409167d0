// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The basic types of a datatype in packed order, without displacements: used by MPI_Get_elements and
// external32. Repetitions are stored as such, so a signature is about as long as the declaration of the
// datatype.
#pragma once

#include "core/builtin.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace zipmpi::core {

struct Signature;
using SignaturePtr = std::shared_ptr<const Signature>;

struct SignatureTerm {
    SignaturePtr signature; // null: the basic type
    TypeId basic{};
    int64_t count = 0;
};

struct Signature {
    std::vector<SignatureTerm> terms;
    int64_t bytes = 0;
    int64_t elements = 0; // basic elements
};

int64_t bytes_of(const SignatureTerm& term);    // of one repetition
int64_t elements_of(const SignatureTerm& term); // of one repetition

// Signature of a named predefined type. Pairs have two basic types.
const SignaturePtr& signature_of(TypeId id);
// True if `id` is the pair of these two types.
bool is_pair(TypeId id, TypeId value, TypeId index);
SignaturePtr repeated(const SignaturePtr& what, int64_t count);
SignaturePtr joined(const std::vector<SignaturePtr>& signatures);

// Number of basic elements in the first `bytes` bytes of consecutive datatypes. Returns false if the last
// element is incomplete.
bool elements_in(const Signature& signature, int64_t bytes, int64_t& elements);
// Bytes of the first `elements` basic elements of consecutive datatypes.
int64_t bytes_in(const Signature& signature, int64_t elements);

} // namespace zipmpi::core
