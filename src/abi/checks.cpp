// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Slow paths and messages of the checks in entry.hpp and arrays.hpp. Each message states the value passed and
// the valid values.
#include "abi/arrays.hpp"
#include "abi/entry.hpp"
#include "names/function_table.hpp"

#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace zipmpi::abi::checks {
namespace {

constexpr const char* type_names[] = {
#define ZIPMPI_X(id, name, ctype) name,
    ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
};
constexpr const char* op_names[] = {
#define ZIPMPI_X(id, name) name,
    ZIPMPI_BUILTIN_OPS(ZIPMPI_X)
#undef ZIPMPI_X
};

// Parameter name as used in messages: "dest" becomes "destination".
const char* role_of(const char* param) noexcept {
    return std::string_view(param) == "dest" ? "destination" : param;
}

bool is_builtin(const core::Datatype& type) noexcept {
    return core::builtin_name(reinterpret_cast<const core::Object&>(type)).kind == core::BuiltinName::type;
}

// "pass a rank from 0 to 3, or MPI_PROC_NULL"
struct RankAdvice {
    char text[120];
    RankAdvice(int size, const char* others) noexcept {
        if (size == 1)
            std::snprintf(text, sizeof text, "pass rank 0%s", others);
        else
            std::snprintf(text, sizeof text, "pass a rank from 0 to %d%s", size - 1, others);
    }
};

Err rank_not_in_comm(Err cls, int rank, const core::Comm& comm, const char* others,
                     const char* param) noexcept {
    const int size = core::size_of(comm);
    return fail(cls, RankAdvice(size, others).text, "%s %d is not in %s, which has %d rank%s", role_of(param),
                rank, core::name_of(comm).c_str(), size, size == 1 ? "" : "s");
}

} // namespace

Err bad_handle(Err cls, const char* what, const char* null_name, bool null, uintptr_t value,
               const char* param) noexcept {
    char fix[120];
    std::snprintf(fix, sizeof fix, "pass a valid %s that was not freed", what);
    if (null) return fail(cls, fix, "%s is %s", param, null_name);
    return fail(cls, fix, "%s (%#" PRIxPTR ") is not a valid %s handle; it may have been freed", param, value,
                what);
}

Err bad_count(int64_t count, int64_t least, const char* param) noexcept {
    const char* const fix = least == 0 ? "pass 0 or more" : "pass 1 or more";
    return fail(Err::count, fix, "%s is %" PRId64, param, count);
}

Err bad_pointer(const char* param) noexcept {
    return fail(Err::arg, "pass the address of a variable", "%s is a null pointer", param);
}

Err bad_enumerator(Err cls, int value, const char* param) noexcept {
    return fail(cls, "pass one of the constants that mpi.h defines for this argument",
                "%s is %d, which is not a valid value", param, value);
}

Err bad_tag(int tag, bool any, const char* param) noexcept {
    const bool is_any_tag = tag == core::any_tag;
    return fail(
        Err::tag, any ? "pass a tag from 0 to 2147483647, or MPI_ANY_TAG" : "pass a tag from 0 to 2147483647",
        is_any_tag ? "%s is MPI_ANY_TAG (%d), which only a receive may use" : "%s is %d, which is negative",
        param, tag);
}

Err bad_operation(const core::Op& op, const core::Datatype& type) noexcept {
    const auto op_name = core::builtin_name(reinterpret_cast<const core::Object&>(op));
    const auto type_name = core::builtin_name(reinterpret_cast<const core::Object&>(type));
    return fail(Err::op,
                "pass an operation that is defined for the datatype, or create one with MPI_Op_create",
                "%s is not defined for %s",
                op_name.kind == core::BuiltinName::op ? op_names[op_name.id] : "the operation",
                type_name.kind == core::BuiltinName::type ? type_names[type_name.id] : "this datatype");
}

Err not_committed(const char* param) noexcept {
    return fail(Err::type, "call MPI_Type_commit on the datatype before it is used in communication",
                "%s is a datatype that was not committed", param);
}

// True for calls on a revoked communicator that need no other rank, and for recovery calls.
static bool is_allowed_on_revoked(std::string_view name) noexcept {
    constexpr std::string_view beginnings[] = {"MPIX_Comm_", "MPI_Comm_",  "MPI_Topo_",       "MPI_Cart_",
                                               "MPI_Graph_", "MPI_Abort",  "MPI_Dist_graph_", "MPI_Attr_",
                                               "MPI_Pack",   "MPI_Unpack", "MPI_Errhandler_"};
    constexpr std::string_view collective[] = {"_create", "_dup",   "_idup",   "_split",
                                               "_sub",    "_spawn", "_accept", "_connect"};
    bool local = false;
    for (const auto b : beginnings) local = local || name.starts_with(b);
    for (const auto c : collective) local = local && name.find(c) == std::string_view::npos;
    return local || name == "MPI_Comm_create_errhandler";
}

Err check_comm_slow(MPI_Comm value, core::Comm*& object, uint32_t function, const char* param) noexcept {
    using Traits = HandleTraits<core::Comm>;
    core::Object* const found = lookup_object<core::Comm>(value);
    if (found == nullptr || found->cls != core::ObjectKind::revoked_comm)
        return bad_handle(Traits::error, Traits::what, Traits::null_name, value == Traits::null(),
                          integer_of(value), param);
    object = reinterpret_cast<core::Comm*>(found);
    if (is_allowed_on_revoked(names::function(function).name)) return Err::success;
    return fail(Err::revoked, "create a communicator of the live ranks with MPIX_Comm_shrink",
                "%s has been revoked by one of its members", core::name_of(*object).c_str());
}

Err check_rank_slow(int rank, const core::Comm& comm, bool any, bool null, const char* param) noexcept {
    if (null && rank == core::proc_null) return Err::success;
    const char* const others = any ? ", MPI_ANY_SOURCE or MPI_PROC_NULL" : null ? ", or MPI_PROC_NULL" : "";
    return rank_not_in_comm(Err::rank, rank, comm, others, param);
}

Err check_rank_slow(int rank, const core::Win& win, bool, bool null, const char* param) noexcept {
    if (null && rank == core::proc_null) return Err::success;
    const int size = core::size_of(win);
    return fail(Err::rank, RankAdvice(size, null ? ", or MPI_PROC_NULL" : "").text,
                "%s %d is not in the window's group, which has %d rank%s", role_of(param), rank, size,
                size == 1 ? "" : "s");
}

Err check_root_slow(int root, const core::Comm& comm, const char* param) noexcept {
    const bool inter = core::is_inter(comm);
    if (inter && (root == core::root_here || root == core::proc_null)) return Err::success;
    return rank_not_in_comm(Err::root, root, comm, inter ? ", MPI_ROOT or MPI_PROC_NULL" : "", param);
}

Err check_buffer_slow(const void* buffer, int64_t count, const core::Datatype* type, bool allows_in_place,
                      const char* param) noexcept {
    if (is_in_place(buffer)) {
        if (allows_in_place) return Err::success;
        return fail(Err::buffer, "pass the address of your data",
                    "%s is MPI_IN_PLACE, which is not valid for this argument", param);
    }
    // a derived datatype may hold absolute addresses, for which MPI_BOTTOM is valid
    if (count == 0 || type == nullptr || !is_builtin(*type)) return Err::success;
    return fail(Err::buffer, "pass the address of your data, or a count of 0",
                "%s is the address %#" PRIxPTR " with a count of %" PRId64, param,
                reinterpret_cast<uintptr_t>(buffer), count);
}

Err bad_element(int64_t index, uintptr_t value, const char* param) noexcept {
    return fail(Err::request, "pass requests that are active, or MPI_REQUEST_NULL",
                "%s[%" PRId64 "] (%#" PRIxPTR ") is not a valid request handle; it may have been freed",
                param, index, value);
}

Err bad_type(int64_t index, MPI_Datatype value, const char* param) noexcept {
    return fail(Err::type, "pass valid datatypes that were not freed",
                "%s[%" PRId64 "] (%#" PRIxPTR ") is not a valid datatype handle; it may have been freed",
                param, index, integer_of(value));
}

Err no_memory(int64_t elements) noexcept {
    return fail(Err::no_mem, "free memory, or complete fewer requests in one call",
                "no memory for an array of %" PRId64 " elements", elements);
}

} // namespace zipmpi::abi::checks
