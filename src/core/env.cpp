// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Time, names, memory, predefined attributes, and lookup of objects by index.
#include "core/api/env.hpp"
#include "core/api/comm.hpp"
#include "core/api/datatype.hpp"
#include "core/datatype/datatype.hpp"
#include "core/group/group.hpp"
#include "core/info/info.hpp"
#include "core/io/file.hpp"
#include "core/op/op.hpp"
#include "core/p2p/message.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"
#include "core/win/win.hpp"
#include "os/host.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <cstdlib>
#include <ctime>

namespace zipmpi::core {

double wtime() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wtick() {
    timespec t{};
    clock_getres(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Err get_processor_name(std::string& name) {
    name = os::host_name();
    return Err::success;
}

Err get_library_version(std::string& text) {
    text = "ZipMPI " ZIPMPI_VERSION;
    return Err::success;
}

Err alloc_mem(int64_t size, Info*, void*& base) {
    constexpr size_t line = 64;
    const size_t bytes = (static_cast<size_t>(size) + line - 1) / line * line;
    base = runtime() != nullptr ? progress_engine().arena().allocate(bytes)
                                : nullptr; // peers can read it directly
    if (base == nullptr) base = std::aligned_alloc(line, bytes != 0 ? bytes : line);
    if (base != nullptr) return Err::success;
    return fail(Err::no_mem, "request less memory", "%lld bytes are not available",
                static_cast<long long>(size));
}

// After MPI_Finalize, as destructors of C++ programs call it, it is unknown where the memory is from.
Err free_mem(void* base) {
    if (runtime() != nullptr && !progress_engine().arena().free(base)) std::free(base);
    return Err::success;
}

Err get_address(const void* location, int64_t& address) {
    address = reinterpret_cast<int64_t>(location);
    return Err::success;
}

Err comm_get_predefined_attribute(Comm&, PredefinedAttribute which, const int*& value, bool& found) {
    static const int tag_ub = tag_max;
    static const int any_rank = any_source; // every rank can do I/O
    static const int no_host = proc_null;
    static const int enabled = 1; // one host, one clock
    static int app_number = 0;
    static int universe = 0;
    static int fault_tolerant = 0;
    const boot::Job& job = runtime()->job;
    found = true;
    switch (which) {
    case PredefinedAttribute::tag_ub:
        value = &tag_ub;
        break;
    case PredefinedAttribute::io:
        value = &any_rank;
        break;
    case PredefinedAttribute::host:
        value = &no_host;
        break;
    case PredefinedAttribute::wtime_is_global:
        value = &enabled;
        break;
    case PredefinedAttribute::appnum:
        app_number = job.app_number;
        found = app_number >= 0;
        value = &app_number;
        break;
    case PredefinedAttribute::universe_size:
        universe = job.universe_size;
        found = universe >= 0;
        value = &universe;
        break;
    case PredefinedAttribute::fault_tolerant:
        fault_tolerant = runtime()->segment.faults().state().fault_tolerant != 0 ? 1 : 0;
        value = &fault_tolerant;
        break;
    case PredefinedAttribute::lastusedcode:
        found = false;
        break; // an index of the ABI binding
    }
    return Err::success;
}

Object* object_by_index(ObjectKind cls, uint32_t index) noexcept {
    switch (cls) {
    case ObjectKind::comm:
        return comm_by_index(index);
    case ObjectKind::request:
        return request_by_index(index);
    case ObjectKind::errhandler:
        return errhandler_by_index(index);
    case ObjectKind::session:
        return session_by_index(index);
    case ObjectKind::message:
        return message_by_index(index);
    case ObjectKind::op:
        return op_by_index(index);
    case ObjectKind::datatype:
        return datatype_by_index(index);
    case ObjectKind::group:
        return group_by_index(index);
    case ObjectKind::info:
        return info_by_index(index);
    case ObjectKind::win:
        return win_by_index(index);
    case ObjectKind::file:
        return file_by_index(index);
    default:
        return nullptr;
    }
}

BuiltinName builtin_name(const Object& object) noexcept {
    switch (object.cls) {
    case ObjectKind::datatype:
        if (const auto& type = static_cast<const Datatype&>(object); is_named(type))
            return {BuiltinName::type, static_cast<int>(type.id)};
        return {};
    case ObjectKind::op:
        if (!static_cast<const Op&>(object).predefined()) return {};
        return {BuiltinName::op, static_cast<int>(static_cast<const Op&>(object).id)};
    case ObjectKind::errhandler:
        if (&object == &errors_are_fatal()) return {BuiltinName::errors_are_fatal, 0};
        if (&object == &errors_abort()) return {BuiltinName::errors_abort, 0};
        if (&object == &errors_return()) return {BuiltinName::errors_return, 0};
        return {};
    case ObjectKind::comm:
    case ObjectKind::revoked_comm:
        if (&object == comm_world()) return {BuiltinName::comm_world, 0};
        if (&object == comm_self()) return {BuiltinName::comm_self, 0};
        return {};
    case ObjectKind::message:
        if (&object == &message_no_proc()) return {BuiltinName::message_no_proc, 0};
        return {};
    case ObjectKind::group:
        if (&object == &group_empty()) return {BuiltinName::group_empty, 0};
        return {};
    case ObjectKind::info:
        if (&object == &info_env()) return {BuiltinName::info_env, 0};
        return {};
    default:
        return {};
    }
}

} // namespace zipmpi::core
