// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Data representations: how basic types lie in a file. "native" and "internal" are the memory's own,
// "external32" is that of the standard, others are the program's (MPI_Register_datarep).
//
// Functions of the program are of the face's types; they are called through these, unlocked, because they may
// call MPI. Threads: under the engine lock.
#pragma once

#include "base/err.hpp"
#include "core/datatype/datatype.hpp"
#include "core/datatype/signature.hpp"

#include <string>

namespace zipmpi::core::io {

struct ConversionCalls {
    // `count` elements of a type between a buffer of the program, from element `position` on, and the file's
    // bytes.
    Err (*convert)(void* function, void* user, Datatype& type, int64_t count, void* file, int64_t position,
                   void* extra_state);
    Err (*extent)(void* function, Datatype& type, int64_t& extent, void* extra_state);
};

struct Conversion {
    void* read = nullptr; // null: the data lie in the file as in memory
    void* write = nullptr;
    void* extent = nullptr;
    void* extra_state = nullptr;
    const ConversionCalls* calls = nullptr;
};

struct Representation {
    enum class Kind { native, external32, users };
    std::string name;
    Kind kind = Kind::native;
    Conversion conversion;

    // Whether bytes in the file are those in memory.
    [[nodiscard]] bool plain() const { return kind == Kind::native; }
};

// Null: no such representation. It stays until the process ends.
const Representation* find_representation(const char* name);
Err add_representation(const char* name, const Conversion& conversion);

// The bytes that one element of a datatype has in the file.
Err bytes_in_file(const Representation& r, const Datatype& type, int64_t& bytes);
// A datatype of bytes with the layout that `type` has in the file: byte displacements of its constructors
// stay, others are scaled.
Err type_in_file(const Representation& r, Datatype& type, TypeShare& result);

// Between elements in the program's memory and bytes as they are in the file.
Err to_file(const Representation& r, const void* buffer, int64_t count, Datatype& type, void* file);
Err from_file(const Representation& r, void* buffer, int64_t count, Datatype& type, const void* file);

} // namespace zipmpi::core::io
