// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Data representations of files: "native" and "internal" equal the memory representation, "external32" is
// defined by the standard, others are registered by the application (MPI_Register_datarep).
//
// User conversion functions have the ABI's types; they are called through the functions below, without the
// progress engine lock because they may call MPI. Threads: otherwise called with the lock held.
#pragma once

#include "base/err.hpp"
#include "core/datatype/datatype.hpp"
#include "core/datatype/signature.hpp"

#include <string>

namespace zipmpi::core::io {

struct ConversionCalls {
    // Converts `count` elements between a user buffer, starting at element `position`, and bytes of the file.
    Err (*convert)(void* function, void* user, Datatype& type, int64_t count, void* file, int64_t position,
                   void* extra_state);
    Err (*extent)(void* function, Datatype& type, int64_t& extent, void* extra_state);
};

struct Conversion {
    void* read = nullptr; // null: file and memory representation are equal
    void* write = nullptr;
    void* extent = nullptr;
    void* extra_state = nullptr;
    const ConversionCalls* calls = nullptr;
};

struct Representation {
    enum class Kind { native, external32, user_defined };
    std::string name;
    Kind kind = Kind::native;
    Conversion conversion;

    // True if the bytes in the file equal those in memory.
    [[nodiscard]] bool is_native() const { return kind == Kind::native; }
};

// Null if there is no such representation. Representations exist until the process exits.
const Representation* find_representation(const char* name);
Err add_representation(const char* name, const Conversion& conversion);

// Bytes of one element of a datatype in the file.
Err bytes_in_file(const Representation& r, const Datatype& type, int64_t& bytes);
// A datatype of bytes with the layout of `type` in the file: byte displacements of its constructors are kept,
// others are scaled.
Err type_in_file(const Representation& r, Datatype& type, TypeShare& result);

// Converts between elements in user memory and file representation.
Err to_file(const Representation& r, const void* buffer, int64_t count, Datatype& type, void* file);
Err from_file(const Representation& r, void* buffer, int64_t count, Datatype& type, const void* file);

} // namespace zipmpi::core::io
