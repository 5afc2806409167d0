// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Values and types of the internal MPI API, which has one header per chapter of the standard. The generated
// ABI entry points convert handles to objects, check what the parameter kinds allow, and call these
// functions; the tables in spec/functions name them as targets. Nothing here depends on handle values, status
// layouts or error numbers of an ABI.
//
// Conventions for targets, in the order of the MPI function's parameters:
//   handle in -> T&, out and inout -> T*& (null = the null handle), arrays -> T** with their length before
//   counts, sizes, displacements -> int64_t; arrays of them -> CountArray; ranks and tags -> int
//   logical out -> bool&, arrays of them -> int* (not 0: true); status out -> Status*, null = ignored; text
//   out -> std::string&
//   form of a collective -> a CallForm before the others, which holds the request; its info object is ignored
// Threads: the ABI binding holds the progress engine lock (core/runtime.hpp) around each call unless its
// table row says otherwise.
#pragma once

#include "base/err.hpp"
#include "core/object.hpp"

#include <cstdint>

namespace zipmpi::core {

// Special values in core's own encoding.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -2;
inline constexpr int proc_null = -3;
inline constexpr int root_here = -4; // MPI_ROOT
inline constexpr int undefined = -32766;
inline constexpr int tag_max = 2147483647;
inline constexpr int order_c = 0xC;
inline constexpr int order_fortran = 0xF;
inline constexpr int distribute_none = 16;
inline constexpr int distribute_block = 17;
inline constexpr int distribute_cyclic = 18;
inline constexpr int distribute_default = 19; // no distribution argument
inline constexpr int mode_nocheck = 1024;     // assertions of chapter 12
inline constexpr int mode_noprecede = 2048;
inline constexpr int mode_noput = 4096;
inline constexpr int mode_nostore = 8192;
inline constexpr int mode_nosucceed = 16384;
inline constexpr int mode_append = 1; // access modes of chapter 14
inline constexpr int mode_create = 2;
inline constexpr int mode_delete_on_close = 4;
inline constexpr int mode_excl = 8;
inline constexpr int mode_rdonly = 16;
inline constexpr int mode_rdwr = 32;
inline constexpr int mode_sequential = 64;
inline constexpr int mode_unique_open = 128;
inline constexpr int mode_wronly = 256;
inline constexpr int64_t displacement_current = -1;
inline const void* const in_place = reinterpret_cast<const void*>(1);
inline const int* const unweighted = reinterpret_cast<const int*>(3);    // MPI_UNWEIGHTED
inline const int* const weights_empty = reinterpret_cast<const int*>(4); // MPI_WEIGHTS_EMPTY
inline void* const automatic_buffer = reinterpret_cast<void*>(2);        // MPI_BUFFER_AUTOMATIC

struct Status {
    int source = any_source;
    int tag = any_tag;
    Err error = Err::success;
    bool cancelled = false;
    int64_t bytes = 0;
};

// Array of counts or displacements with elements of int or MPI_Count, as the caller passed it.
struct CountArray {
    const void* data = nullptr;
    bool wide = false;
    int64_t operator[](int64_t i) const {
        return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
    }
};

// A user operation: the ABI's function, and the binding function that calls it on elements in the type's
// layout.
using UserReduction = void (*)(void* user_function, const void* in, void* inout, int64_t count,
                               Datatype& type);

enum class ThreadLevel { single, funneled, serialized, multiple };
enum class Comparison { ident, congruent, similar, unequal };
enum class TypeClass { integer, real, complex, logical };
enum class Combiner {
    named,
    dup,
    contiguous,
    vector,
    hvector,
    indexed,
    hindexed,
    indexed_block,
    hindexed_block,
    structure,
    subarray,
    darray,
    f90_real,
    f90_complex,
    f90_integer,
    resized,
    value_index
};
enum class TopologyKind { none, cart, graph, dist_graph };
enum class LockType { exclusive, shared };
enum class WinFlavor { create, allocate, dynamic, shared };
enum class WinAttribute { base, size, disp_unit, create_flavor, model };
enum class SplitType { shared, hw_guided, hw_unguided, resource_guided, none };
enum class Seek { set, current, end };
enum class PredefinedAttribute {
    tag_ub,
    io,
    host,
    wtime_is_global,
    appnum,
    lastusedcode,
    universe_size,
    fault_tolerant
};

// --- the tool interface (chapter 15)
enum class ToolErr {
    success,
    cannot_init,
    not_accessible,
    not_initialized,
    not_supported,
    memory,
    invalid,
    invalid_index,
    invalid_item,
    invalid_session,
    invalid_handle,
    invalid_name,
    out_of_handles,
    out_of_sessions,
    cvar_set_not_now,
    cvar_set_never,
    pvar_no_write,
    pvar_no_startstop,
    pvar_no_atomic
};
enum class Verbosity { user, tuner, developer };
enum class Binding { none, comm };
enum class CvarScope { read_only, local, all_equal };
enum class PvarClass {
    state,
    level,
    size,
    percentage,
    high_water,
    low_water,
    counter,
    aggregate,
    timer,
    generic
};

} // namespace zipmpi::core
