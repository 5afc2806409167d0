// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The attribute calls of communicators, datatypes and windows, by one template.
#include "core/api/comm.hpp"
#include "core/attr/attr.hpp"
#include "core/attr/type_attributes.hpp"
#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/runtime_state.hpp"
#include "core/win/win.hpp"

namespace zipmpi::core {
namespace {

Attributes& attributes_of(Comm& comm) { return comm.attributes; }
Attributes& attributes_of(Win& win) { return win.attributes; }

template <Keyed keyed, class Owner>
Err set(Owner& owner, uint32_t key, void* value) {
    Keyval* const found = keyval_by_index(key, keyed);
    return found != nullptr ? attributes_of(owner).set(owner, *found, value) : invalid_keyval();
}

template <Keyed keyed, class Owner>
Err get(Owner& owner, uint32_t key, void*& value, bool& found) {
    const Keyval* const keyval = keyval_by_index(key, keyed);
    if (keyval == nullptr) return invalid_keyval();
    void* const* const at = attributes_of(owner).find(*keyval);
    found = at != nullptr;
    if (found) value = *at;
    return Err::success;
}

template <Keyed keyed, class Owner>
Err erase(Owner& owner, uint32_t key) {
    Keyval* const found = keyval_by_index(key, keyed);
    if (found == nullptr) return invalid_keyval();
    if (attributes_of(owner).find(*found) == nullptr)
        return fail(Err::keyval, "delete only attributes that are set", "no attribute is set under this key");
    return attributes_of(owner).erase(owner, *found);
}

} // namespace

Err comm_set_attr(Comm& comm, uint32_t key, void* value) { return set<Keyed::comm>(comm, key, value); }
Err comm_get_attr(Comm& comm, uint32_t key, void*& value, bool& found) {
    return get<Keyed::comm>(comm, key, value, found);
}
Err comm_delete_attr(Comm& comm, uint32_t key) { return erase<Keyed::comm>(comm, key); }

Err type_set_attr(Datatype& type, uint32_t key, void* value) { return set<Keyed::type>(type, key, value); }
Err type_get_attr(Datatype& type, uint32_t key, void*& value, bool& found) {
    return get<Keyed::type>(type, key, value, found);
}
Err type_delete_attr(Datatype& type, uint32_t key) { return erase<Keyed::type>(type, key); }

Err win_set_attr(Win& win, uint32_t key, void* value) { return set<Keyed::win>(win, key, value); }
Err win_get_attr(Win& win, uint32_t key, void*& value, bool& found) {
    return get<Keyed::win>(win, key, value, found);
}
Err win_delete_attr(Win& win, uint32_t key) { return erase<Keyed::win>(win, key); }

} // namespace zipmpi::core
