// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/attr/attr.hpp"

#include "core/runtime_state.hpp"
#include "core/runtime_unlock_guard.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Slab<Keyval>& slab() {
    static auto* const s = new Slab<Keyval>; // never destroyed: see slab.hpp
    return *s;
}

Keyval* share(Keyval& key) {
    add_ref(key);
    return &key;
}

void release(Keyval& key) {
    if (release_ref(key)) slab().destroy(key);
}

Err call_delete(const Keyval& key, Object& owner, void* value) {
    if (key.delete_function == nullptr) return Err::success;
    const RuntimeUnlockGuard unlocked;
    return key.calls->erase(key.delete_function, owner, key.index, value, key.extra_state);
}

Err call_copy(const Keyval& key, Object& owner, void* value, void*& copied, bool& wanted) {
    wanted = key.copy != Keyval::Copy::never;
    copied = value;
    if (key.copy != Keyval::Copy::call) return Err::success;
    const RuntimeUnlockGuard unlocked;
    wanted = false;
    return key.calls->copy(key.copy_function, owner, key.index, key.extra_state, value, copied, wanted);
}

} // namespace

Keyval* keyval_by_index(uint32_t index, Keyed keyed) {
    Keyval* const key = slab().find(index);
    return key != nullptr && key->keyed == keyed ? key : nullptr;
}

bool keyval_exists(Keyed keyed, uint32_t key) noexcept { return keyval_by_index(key, keyed) != nullptr; }

Err keyval_create(const KeyvalFunctions& functions, uint32_t& key) {
    Keyval* const made = slab().make();
    if (made == nullptr) return fail(Err::no_mem, "free memory", "no memory for another attribute key");
    made->refs.store(1, std::memory_order_relaxed);
    static_cast<KeyvalFunctions&>(*made) = functions;
    key = made->index;
    return Err::success;
}

Err keyval_free(Keyed keyed, uint32_t key) {
    Keyval* const found = keyval_by_index(key, keyed);
    if (found == nullptr) return invalid_keyval();
    if (found->freed) return Err::success; // freed before, but kept alive by attributes: nothing to do
    found->freed = true;
    release(*found);
    return Err::success;
}

Err invalid_keyval() {
    return fail(Err::keyval, "pass a keyval created for this kind of object and not freed",
                "the attribute key is not valid");
}

void* const* Attributes::find(const Keyval& key) const {
    for (const Entry& entry : entries_)
        if (entry.key == &key) return &entry.value;
    return nullptr;
}

Err Attributes::set(Object& owner, Keyval& key, void* value) {
    const auto same = [&](const Entry& e) { return e.key == &key; };
    const auto old = std::find_if(entries_.begin(), entries_.end(), same);
    if (old == entries_.end()) {
        entries_.push_back({share(key), value});
        return Err::success;
    }
    if (const Err e = call_delete(key, owner, old->value); e != Err::success) return e;
    // the callback may have changed the list
    const auto now = std::find_if(entries_.begin(), entries_.end(), same);
    if (now != entries_.end())
        now->value = value;
    else
        entries_.push_back({share(key), value});
    return Err::success;
}

Err Attributes::erase(Object& owner, Keyval& key) {
    void* const* const value = find(key);
    if (value == nullptr) return Err::success;
    share(key); // the callback may free it
    const Err e = call_delete(key, owner, *value);
    if (e == Err::success) drop(key);
    release(key);
    return e;
}

void Attributes::drop(Keyval& key) {
    const auto at =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == &key; });
    if (at == entries_.end()) return;
    entries_.erase(at);
    release(key);
}

Err Attributes::copy_from(const Attributes& from, Object& old_owner, Object& new_owner) {
    const std::vector<Entry> entries = from.entries_; // callbacks may change the original
    for (const Entry& entry : entries) share(*entry.key);
    Err result = Err::success;
    for (const Entry& entry : entries) {
        void* copied = nullptr;
        bool wanted = false;
        result = call_copy(*entry.key, old_owner, entry.value, copied, wanted);
        if (result != Err::success) break;
        if (wanted) entries_.push_back({share(*entry.key), copied});
    }
    for (const Entry& entry : entries) release(*entry.key);
    if (result != Err::success) static_cast<void>(erase_all(new_owner));
    return result;
}

Err Attributes::erase_all(Object& owner) {
    while (!entries_.empty())
        if (const Err e = erase(owner, *entries_.back().key); e != Err::success) return e;
    return Err::success;
}

Attributes::~Attributes() {
    for (const Entry& entry : entries_) release(*entry.key);
}

} // namespace zipmpi::core
