// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes: values that a program attaches to communicators, datatypes and windows, under keys that it has
// made. The functions that copy and delete them are called unlocked: they may call MPI.
#pragma once

#include "core/attr/keyval.hpp"

#include <vector>

namespace zipmpi::core {

struct Keyval : Object, KeyvalFunctions {
    static constexpr Class class_id = Class::keyval;
    bool freed = false; // by the program; attributes under it keep it alive
};

// What is attached to one object, in the order in which it was.
class Attributes {
  public:
    Attributes() = default;
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes();

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] void* const* find(const Keyval& key) const;
    Err set(Object& owner, Keyval& key, void* value);
    Err erase(Object& owner, Keyval& key);
    // Calls the copy functions of `from` and attaches what they give. On failure nothing is left attached.
    Err copy_from(const Attributes& from, Object& old_owner, Object& new_owner);
    // The last attached goes first. Stops at the first function that fails.
    Err erase_all(Object& owner);

  private:
    struct Entry {
        Keyval* key; // counted
        void* value;
    };
    void drop(Keyval& key);
    std::vector<Entry> entries_;
};

// The key with that number, or null. One that the program has freed is there while attributes are under it:
// they can still be looked up and deleted.
Keyval* keyval_by_index(uint32_t index, Keyed keyed);
[[gnu::cold]] Err no_such_key();

} // namespace zipmpi::core
