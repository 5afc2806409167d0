// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of attributes, as a face makes them. The functions that copy and delete attributes are of the face's
// type: the engine calls them through AttributeCalls.
#pragma once

#include "base/err.hpp"
#include "core/object.hpp"

#include <cstdint>

namespace zipmpi::core {

enum class Keyed : uint8_t { comm, type, win };

// How a face calls the program's functions.
struct AttributeCalls {
    Err (*copy)(void* function, Object& owner, uint32_t key, void* extra_state, void* value, void*& copied,
                bool& wanted);
    Err (*erase)(void* function, Object& owner, uint32_t key, void* value, void* extra_state);
};

// What a face says about a key when the program makes it.
struct KeyvalFunctions {
    Keyed keyed = Keyed::comm;
    enum class Copy : uint8_t { never, as_is, call } copy = Copy::never;
    void* copy_function = nullptr;
    void* delete_function = nullptr; // null: none
    void* extra_state = nullptr;
    const AttributeCalls* calls = nullptr;
};

Err keyval_create(const KeyvalFunctions& functions, uint32_t& key);
Err keyval_free(Keyed keyed, uint32_t key);
// A key that the program has freed exists while attributes are under it.
bool keyval_exists(Keyed keyed, uint32_t key) noexcept;

} // namespace zipmpi::core
