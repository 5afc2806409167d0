// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that the Fortran and C++ libraries of MPICH call (libmpichfort.so.12, libmpichcxx.so.12).
#include "abi/custom.hpp"
#include "binding/callback_calls.hpp"
#include "core/api/coll.hpp"
#include "core/runtime.hpp"

#include <map>
#include <mutex>

namespace zipmpi::abi {
namespace {

std::mutex proxies_mutex;
std::map<int, KeyvalProxies>& proxies() {
    static std::map<int, KeyvalProxies> all;
    return all;
}

// Error handlers of C++ by the user's function: the last user of a handler may be an object.
std::map<void (*)(), HandlerProxy*>& handler_proxies() {
    static std::map<void (*)(), HandlerProxy*> all;
    return all;
}

// A predefined keyval of Fortran is that of C plus 1.
bool is_predefined(int keyval) noexcept { return static_cast<uint32_t>(keyval) >> 26 == 0x19; }

// Fortran gets the value of most predefined attributes, C their address.
void* fortran_value(int keyval, void* value) noexcept {
    switch (keyval) {
    case MPI_WIN_BASE:
        return value;
    case MPI_WIN_SIZE:
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the hook returns integers as pointers
        return reinterpret_cast<void*>(*static_cast<MPI_Aint*>(value));
    default:
        // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
        return reinterpret_cast<void*>(static_cast<intptr_t>(*static_cast<int*>(value)));
    }
}

template <class Handle>
int get_attribute(int (*get)(Handle, int, void*, int*), Handle handle, int keyval, void* out, int* flag,
                  AttributeType type) noexcept {
    if (type == attribute_pointer) return get(handle, keyval, out, flag);
    const bool predefined = is_predefined(keyval) && keyval % 2 == 0;
    if (predefined) --keyval;
    void* value = nullptr;
    const int code = get(handle, keyval, &value, flag);
    if (code != MPI_SUCCESS || *flag == 0) return code;
    *static_cast<void**>(out) = predefined ? fortran_value(keyval, value) : value;
    return code;
}

// An operation of C++: the library's function, which gets the user's.
struct CxxOperation {
    void (*call)(const void*, void*, int, MPI_Datatype, MPI_User_function*);
    MPI_User_function* function;
};

void call_cxx(void* record, const void* in, void* inout, int64_t count, core::Datatype& type) {
    const auto& op = *static_cast<CxxOperation*>(record);
    op.call(in, inout, static_cast<int>(count), handle_of(&type), op.function);
}

} // namespace

KeyvalProxies proxies_of(int keyval) noexcept {
    const std::lock_guard<std::mutex> guard(proxies_mutex);
    const auto at = proxies().find(keyval);
    return at != proxies().end() ? at->second : KeyvalProxies{};
}

HandlerProxy* proxy_of(void (*function)()) noexcept {
    const std::lock_guard<std::mutex> guard(proxies_mutex);
    const auto at = handler_proxies().find(function);
    return at != handler_proxies().end() ? at->second : nullptr;
}

} // namespace zipmpi::abi

using namespace zipmpi;
using namespace zipmpi::abi;

#pragma GCC visibility push(default)
extern "C" {

#define ZIPMPI_ATTRIBUTES(name, Handle)                                                                      \
    int MPII_##name##_get_attr(Handle handle, int keyval, void* value, int* flag, AttributeType type) {      \
        return get_attribute(PMPI_##name##_get_attr, handle, keyval, value, flag, type);                     \
    }                                                                                                        \
    int MPII_##name##_set_attr(Handle handle, int keyval, void* value, AttributeType) {                      \
        return PMPI_##name##_set_attr(handle, keyval, value);                                                \
    }
ZIPMPI_ATTRIBUTES(Comm, MPI_Comm)
ZIPMPI_ATTRIBUTES(Type, MPI_Datatype)
ZIPMPI_ATTRIBUTES(Win, MPI_Win)

void MPII_Keyval_set_proxy(int keyval, CopyProxy* copy, DeleteProxy* erase) {
    const std::lock_guard<std::mutex> guard(proxies_mutex);
    proxies()[keyval] = {copy, erase};
}

// The record lives as long as the process: the operation may be in use after it was freed.
void MPII_Op_set_cxx(MPI_Op handle, void (*call)()) {
    core::Op* const op = find<core::Op>(handle);
    if (op == nullptr) return;
    auto* const record = new CxxOperation{reinterpret_cast<decltype(CxxOperation::call)>(call),
                                          reinterpret_cast<MPI_User_function*>(core::user_function_of(*op))};
    core::set_user_function(*op, record, call_cxx);
}

void MPII_Errhandler_set_cxx(MPI_Errhandler handle, void (*call)()) {
    const core::Errhandler* const handler = find<core::Errhandler>(handle);
    if (handler == nullptr) return;
    auto* const function = reinterpret_cast<void (*)()>(core::action_of(*handler).user_function);
    const std::lock_guard<std::mutex> guard(proxies_mutex);
    handler_proxies()[function] = reinterpret_cast<HandlerProxy*>(call);
}

// Generalized requests of Fortran are called as those of C.
void MPII_Grequest_set_lang_f77(MPI_Request) {}

} // extern "C"
#pragma GCC visibility pop
