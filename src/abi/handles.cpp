// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/handles.hpp"

#include "abi/abi_values.hpp"
#include "abi/predefined_types.hpp"
#include "core/win/target_cache.hpp"

namespace zipmpi::abi {

std::atomic<core::Object*> predefined_objects[codes_end];
std::atomic<uint8_t> type_info_table[codes_end];

namespace {

core::Object* object_of(const values::Predefined& row) noexcept {
    using Kind = core::BuiltinName::Kind;
    switch (row.kind) {
    case Kind::type:
        return as_object(&core::builtin_type(static_cast<core::TypeId>(row.id)));
    case Kind::op:
        return as_object(&core::builtin_op(static_cast<core::OpId>(row.id)));
    case Kind::errors_are_fatal:
        return as_object(&core::errors_are_fatal());
    case Kind::errors_abort:
        return as_object(&core::errors_abort());
    case Kind::errors_return:
        return as_object(&core::errors_return());
    case Kind::comm_world:
        return as_object(core::comm_world());
    case Kind::comm_self:
        return as_object(core::comm_self());
    case Kind::message_no_proc:
        return as_object(&core::message_no_proc());
    case Kind::group_empty:
        return as_object(&core::group_empty());
    case Kind::info_env:
        return as_object(&core::info_env());
    case Kind::none:
        break;
    }
    return nullptr;
}

uint8_t type_info_of(const core::Datatype& type) noexcept {
    const uint8_t bytes = core::contiguous_size(type);
    return bytes != 0 && core::has_cpu_atomics(type) ? bytes | cpu_atomic_bit : bytes;
}

bool is_communicator(const values::Predefined& row) noexcept {
    return row.kind == core::BuiltinName::comm_world || row.kind == core::BuiltinName::comm_self;
}

} // namespace

core::Object* resolve_predefined(uintptr_t index) noexcept {
    for (const values::Predefined& row : values::predefined) {
        if (index_of_code(row.code) != index) continue;
        core::Object* const object = object_of(row);
        predefined_objects[index].store(object, std::memory_order_relaxed);
        if (row.kind == core::BuiltinName::type)
            type_info_table[index].store(type_info_of(core::builtin_type(static_cast<core::TypeId>(row.id))),
                                         std::memory_order_relaxed);
        return object;
    }
    return nullptr;
}

void reset_predefined_comms() noexcept {
    for (const values::Predefined& row : values::predefined)
        if (is_communicator(row))
            predefined_objects[index_of_code(row.code)].store(nullptr, std::memory_order_relaxed);
}

uintptr_t predefined_handle(const core::Object& object) noexcept {
    const core::BuiltinName name = core::builtin_name(object);
    if (name.kind == core::BuiltinName::none) return 0;
    for (const values::Predefined& row : values::predefined)
        if (row.kind == name.kind && row.id == name.id) return row.handle();
    return 0;
}

} // namespace zipmpi::abi
