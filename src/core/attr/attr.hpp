// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes: values that the application attaches to communicators, datatypes and windows under keyvals.
// User copy and delete callbacks run without the progress engine lock because they may call MPI.
#pragma once

#include "core/attr/keyval.hpp"

#include <vector>

namespace zipmpi::core {

struct Keyval : Object, KeyvalFunctions {
    static constexpr ObjectKind class_id = ObjectKind::keyval;
    bool freed = false; // freed by the application; attributes still using it keep it alive
};

// Attributes of one object, in the order in which they were set.
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
    // Calls the copy callbacks of `from` and attaches the results. On failure nothing stays attached.
    Err copy_from(const Attributes& from, Object& old_owner, Object& new_owner);
    // Deletes in reverse order of attachment. Stops at the first callback that fails.
    Err erase_all(Object& owner);

  private:
    struct Entry {
        Keyval* key; // reference-counted
        void* value;
    };
    void drop(Keyval& key);
    std::vector<Entry> entries_;
};

// The keyval with this index, or null. A freed keyval remains valid while attributes use it, so that they can
// still be read and deleted.
Keyval* keyval_by_index(uint32_t index, Keyed keyed);
[[gnu::cold]] Err invalid_keyval();

} // namespace zipmpi::core
