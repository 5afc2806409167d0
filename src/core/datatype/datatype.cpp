// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/datatype.hpp"

#include "core/api.hpp"
#include "core/engine.hpp"

#include <array>

namespace zipmpi::core {
namespace {

template <class T>
struct Size {
    static constexpr int64_t value = sizeof(T);
};
template <class A, class B>
struct Size<Pair<A, B>> { // padding is not data
    static constexpr int64_t value = sizeof(A) + sizeof(B);
};
template <>
struct Size<Unsupported> {
    static constexpr int64_t value = undefined;
};

template <class T>
constexpr int64_t extent_of = sizeof(T);
template <>
constexpr int64_t extent_of<Unsupported> = 0;

struct Table {
    std::array<Datatype, static_cast<size_t>(TypeId::count_)> types;
    constexpr Table() {
#define ZIPMPI_X(id_, name_, ctype)                                                                          \
    {                                                                                                        \
        using T = typename Argument<void ctype>::type;                                                       \
        Datatype& d = types[static_cast<size_t>(TypeId::id_)];                                               \
        d.cls = Class::datatype;                                                                             \
        d.index = static_cast<uint32_t>(TypeId::id_);                                                        \
        d.id = TypeId::id_;                                                                                  \
        d.name = name_;                                                                                      \
        d.size = Size<T>::value;                                                                             \
        d.extent = extent_of<T>;                                                                             \
    }
        ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
    }
};

// Ready before any code runs: threads may meet here first.
constinit Table table;

} // namespace

Datatype& builtin_type(TypeId id) noexcept { return table.types[static_cast<size_t>(id)]; }

bool is_committed(const Datatype&) noexcept { return true; } // predefined types are

Err type_size(Datatype& type, int64_t& size) {
    size = type.size;
    return Err::success;
}

Err type_get_extent(Datatype& type, int64_t& lower, int64_t& extent) {
    lower = 0;
    extent = type.extent;
    return Err::success;
}

Err type_commit(Datatype*& type) {
    if (type == nullptr) return fail(Err::type, "pass a datatype", "the datatype is MPI_DATATYPE_NULL");
    return Err::success;
}

Err get_count(const Status& status, Datatype& type, int64_t& count) {
    if (type.size <= 0)
        count = status.bytes == 0 ? 0 : undefined;
    else
        count = status.bytes % type.size == 0 ? status.bytes / type.size : undefined;
    return Err::success;
}

} // namespace zipmpi::core
