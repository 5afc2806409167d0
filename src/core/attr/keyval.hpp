// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Keyvals (attribute keys) as an ABI binding creates them. The copy and delete callbacks have the ABI's
// function types; core calls them through AttributeCalls.
#pragma once

#include "base/err.hpp"
#include "core/object.hpp"

#include <cstdint>

namespace zipmpi::core {

enum class Keyed : uint8_t { comm, type, win };

// Binding functions that invoke the user's callbacks.
struct AttributeCalls {
    Err (*copy)(void* function, Object& owner, uint32_t key, void* extra_state, void* value, void*& copied,
                bool& wanted);
    Err (*erase)(void* function, Object& owner, uint32_t key, void* value, void* extra_state);
};

// Callbacks that the binding passes when the application creates a keyval.
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
// A freed keyval exists while attributes use it.
bool keyval_exists(Keyed keyed, uint32_t key) noexcept;

} // namespace zipmpi::core
