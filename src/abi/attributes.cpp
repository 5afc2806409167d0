// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes in the ABI binding: keyval numbers, user callbacks and predefined values.
#include "abi/abi_values.hpp"
#include "abi/custom.hpp"
#include "abi/errors.hpp"
#include "abi/results.hpp"
#include "abi/user_errors.hpp"
#include "binding/callback_calls.hpp"
#include "core/api/comm.hpp"
#include "core/api/rma.hpp"
#include "core/attr/keyval.hpp"

namespace zipmpi::abi {
namespace {

// User keyvals are numbered after the predefined ones.
constexpr int first_keyval = static_cast<int>(first_user_value);

int number_of(uint32_t key) { return first_keyval + static_cast<int>(key); }
uint32_t key_of(int keyval) {
    return keyval >= first_keyval ? static_cast<uint32_t>(keyval - first_keyval) : UINT32_MAX;
}

Err find_key(core::Keyed keyed, int keyval, uint32_t& key) {
    key = key_of(keyval);
    if (core::keyval_exists(keyed, key)) return Err::success;
    constexpr const char* fix = "pass a keyval created for this kind of object and not freed";
    if (keyval == MPI_KEYVAL_INVALID) return fail(Err::keyval, fix, "the key is MPI_KEYVAL_INVALID");
    return fail(Err::keyval, fix,
                "%d is not a valid user keyval for this kind of object; it may have been freed", keyval);
}

template <class T, class CopyFunction, class DeleteFunction>
struct Calls {
    static Err copy(void* function, core::Object& owner, uint32_t key, void* extra_state, void* value,
                    void*& copied, bool& wanted) {
        int flag = 0;
        const int code =
            call_copy(reinterpret_cast<CopyFunction*>(function), handle_of(reinterpret_cast<T*>(&owner)),
                      number_of(key), extra_state, value, &copied, &flag);
        wanted = flag != 0;
        return any_err_of(code);
    }
    static Err erase(void* function, core::Object& owner, uint32_t key, void* value, void* extra_state) {
        return any_err_of(call_delete(reinterpret_cast<DeleteFunction*>(function),
                                      handle_of(reinterpret_cast<T*>(&owner)), number_of(key), value,
                                      extra_state));
    }
    static constexpr core::AttributeCalls table{copy, erase};
};
using CommCalls = Calls<core::Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function>;
using TypeCalls = Calls<core::Datatype, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function>;
using WinCalls = Calls<core::Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function>;

// The predefined callbacks are small integers, equal for all three kinds of objects.
Err create(core::Keyed keyed, const core::AttributeCalls& calls, void* copy, void* erase, int& keyval,
           void* extra_state) {
    using Copy = core::KeyvalFunctions::Copy;
    core::KeyvalFunctions functions{keyed, Copy::call, copy, erase, extra_state, &calls};
    if (copy == reinterpret_cast<void*>(MPI_COMM_NULL_COPY_FN)) functions.copy = Copy::never;
    if (copy == reinterpret_cast<void*>(MPI_COMM_DUP_FN)) functions.copy = Copy::as_is;
    uint32_t key = 0;
    const Err e = core::keyval_create(functions, key);
    if (e == Err::success) keyval = number_of(key);
    return e;
}

Err free_key(core::Keyed keyed, int& keyval) {
    uint32_t key = 0;
    Err e = find_key(keyed, keyval, key);
    if (e == Err::success) e = core::keyval_free(keyed, key);
    if (e == Err::success) keyval = MPI_KEYVAL_INVALID;
    return e;
}

template <class Owner>
Err set(core::Keyed keyed, Owner& owner, int keyval, void* value, Err (*core_set)(Owner&, uint32_t, void*)) {
    uint32_t key = 0;
    const Err e = find_key(keyed, keyval, key);
    return e == Err::success ? core_set(owner, key, value) : e;
}

template <class Owner>
Err erase(core::Keyed keyed, Owner& owner, int keyval, Err (*core_erase)(Owner&, uint32_t)) {
    uint32_t key = 0;
    const Err e = find_key(keyed, keyval, key);
    return e == Err::success ? core_erase(owner, key) : e;
}

template <class Owner>
Err get(core::Keyed keyed, Owner& owner, int keyval, void* value, bool& found,
        Err (*core_get)(Owner&, uint32_t, void*&, bool&)) {
    if (value == nullptr)
        return fail(Err::arg, "pass the address of a pointer", "attribute_val is a null pointer");
    void* attached = nullptr;
    uint32_t key = 0;
    Err e = find_key(keyed, keyval, key);
    if (e == Err::success) e = core_get(owner, key, attached, found);
    if (e == Err::success && found) *static_cast<void**>(value) = attached;
    return e;
}

// Ranks to which attribute values point, in the encoding of the ABI.
const int any_rank_code = MPI_ANY_SOURCE;
const int no_host_code = MPI_PROC_NULL;

// True if the key is predefined for communicators.
bool get_predefined(core::Comm& comm, int keyval, const int*& data, bool& found, Err& err) {
    for (const auto& row : values::enum_codes(core::PredefinedAttribute{})) {
        if (row.code != keyval) continue;
        err = core::comm_get_predefined_attribute(comm, row.value, data, found);
        if (row.value == core::PredefinedAttribute::lastusedcode) {
            data = last_used_code();
            found = true;
        }
        if (row.value == core::PredefinedAttribute::io && found) data = &any_rank_code;
        if (row.value == core::PredefinedAttribute::host && found) data = &no_host_code;
        return true;
    }
    return false;
}

// Integers to which attribute values point.
int flavor_codes[std::size(values::enum_codes(core::WinFlavor{}))];
int model_code = MPI_WIN_UNIFIED;

bool get_predefined(core::Win& win, int keyval, void*& value) {
    for (const auto& row : values::enum_codes(core::WinAttribute{})) {
        if (row.code != keyval) continue;
        switch (row.value) {
        case core::WinAttribute::create_flavor: {
            int& code = flavor_codes[static_cast<size_t>(core::flavor_of(win))];
            code = code_of(core::flavor_of(win));
            value = &code;
            break;
        }
        case core::WinAttribute::model:
            value = &model_code;
            break;
        default:
            value = core::win_attribute(win, row.value);
        }
        return true;
    }
    return false;
}

} // namespace

namespace custom {

Err comm_create_keyval(void* copy, void* erase, int& keyval, void* extra_state) {
    return create(core::Keyed::comm, CommCalls::table, copy, erase, keyval, extra_state);
}
Err type_create_keyval(void* copy, void* erase, int& keyval, void* extra_state) {
    return create(core::Keyed::type, TypeCalls::table, copy, erase, keyval, extra_state);
}
Err win_create_keyval(void* copy, void* erase, int& keyval, void* extra_state) {
    return create(core::Keyed::win, WinCalls::table, copy, erase, keyval, extra_state);
}
Err comm_free_keyval(int& keyval) { return free_key(core::Keyed::comm, keyval); }
Err type_free_keyval(int& keyval) { return free_key(core::Keyed::type, keyval); }
Err win_free_keyval(int& keyval) { return free_key(core::Keyed::win, keyval); }

Err comm_set_attr(core::Comm& comm, int keyval, void* value) {
    return set(core::Keyed::comm, comm, keyval, value, core::comm_set_attr);
}
Err type_set_attr(core::Datatype& type, int keyval, void* value) {
    return set(core::Keyed::type, type, keyval, value, core::type_set_attr);
}
Err win_set_attr(core::Win& win, int keyval, void* value) {
    return set(core::Keyed::win, win, keyval, value, core::win_set_attr);
}
Err comm_delete_attr(core::Comm& comm, int keyval) {
    return erase(core::Keyed::comm, comm, keyval, core::comm_delete_attr);
}
Err type_delete_attr(core::Datatype& type, int keyval) {
    return erase(core::Keyed::type, type, keyval, core::type_delete_attr);
}
Err win_delete_attr(core::Win& win, int keyval) {
    return erase(core::Keyed::win, win, keyval, core::win_delete_attr);
}

Err comm_get_attr(core::Comm& comm, int keyval, void* value, bool& found) {
    const int* data = nullptr;
    Err err = Err::success;
    if (value == nullptr || !get_predefined(comm, keyval, data, found, err))
        return get(core::Keyed::comm, comm, keyval, value, found, core::comm_get_attr);
    if (err == Err::success && found) *static_cast<const int**>(value) = data;
    return err;
}
Err type_get_attr(core::Datatype& type, int keyval, void* value, bool& found) {
    return get(core::Keyed::type, type, keyval, value, found, core::type_get_attr);
}
Err win_get_attr(core::Win& win, int keyval, void* value, bool& found) {
    if (value != nullptr && get_predefined(win, keyval, *static_cast<void**>(value))) {
        found = true;
        return Err::success;
    }
    return get(core::Keyed::win, win, keyval, value, found, core::win_get_attr);
}

} // namespace custom
} // namespace zipmpi::abi
