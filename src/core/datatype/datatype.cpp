// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/datatype.hpp"

#include "core/api/datatype.hpp"
#include "core/api/p2p.hpp"
#include "core/attr/type_attributes.hpp"
#include "core/datatype/derived.hpp"
#include "core/runtime.hpp"
#include "core/slab.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <new>

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
template <>
struct Size<Marker> {
    static constexpr int64_t value = 0;
};

template <class T>
constexpr int64_t extent_of = sizeof(T);
template <>
constexpr int64_t extent_of<Unsupported> = 0;
template <>
constexpr int64_t extent_of<Marker> = 0;

template <class T>
constexpr int64_t true_extent_of() { // up to the end of the last member
    if constexpr (requires(T pair) { pair.index; })
        return static_cast<int64_t>(offsetof(T, index) + sizeof(T::index));
    else
        return extent_of<T>;
}

struct TypeTable {
    std::array<Datatype, static_cast<size_t>(TypeId::count_)> types;
    constexpr TypeTable() {
#define ZIPMPI_X(id_, name_, ctype)                                                                          \
    {                                                                                                        \
        using T = typename Argument<void ctype>::type;                                                       \
        Datatype& d = types[static_cast<size_t>(TypeId::id_)];                                               \
        d.cls = ObjectKind::datatype;                                                                        \
        d.index = static_cast<uint32_t>(TypeId::id_);                                                        \
        d.id = TypeId::id_;                                                                                  \
        d.name = name_;                                                                                      \
        d.size = Size<T>::value;                                                                             \
        d.extent = extent_of<T>;                                                                             \
        d.true_extent = true_extent_of<T>();                                                                 \
        d.alignment = alignof(T);                                                                            \
    }
        ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
    }
};

// Constant-initialized: threads may use it before any code of this file runs.
constinit TypeTable table;

template <class T>
void describe_pair(Datatype& type) {
    if constexpr (requires(T pair) { pair.index; }) {
        static const packing::LayoutPtr layout =
            packing::compile(packing::sequence({packing::run(sizeof(T::value)),
                                                {offsetof(T, index), packing::run(sizeof(T::index)).node}}),
                             sizeof(T));
        if (!layout->contiguous(2)) type.layout = layout.get();
    }
}

// Pairs with padding are the only predefined types with a layout.
bool set_pair_layouts() {
#define ZIPMPI_X(id, name, ctype)                                                                            \
    describe_pair<typename Argument<void ctype>::type>(builtin_type(TypeId::id));
    ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
    return true;
}
[[maybe_unused]] const bool pairs_described = set_pair_layouts();

Slab<Datatype>& slab() {
    static auto* s = new Slab<Datatype>; // types may be used until the process exits
    return *s;
}

// The layout is compiled at construction, not at commit: types are constructed from uncommitted types, and
// compiled components make the whole cheaper.
void apply_shape(Datatype& type) {
    Derived& d = *type.derived;
    type.size = d.shape.size;
    type.lower = d.shape.lower;
    type.extent = d.shape.extent();
    type.alignment = d.shape.alignment;
    if (const packing::LayoutNode* node = d.shape.layout.node.get()) {
        type.true_lower = d.shape.layout.at + node->low;
        type.true_extent = node->high - node->low;
    }
    d.layout = packing::compile(d.shape.layout, type.extent);
    const bool plain = d.layout->contiguous(2) && d.layout->first == 0;
    type.layout = plain ? nullptr : d.layout.get();
}

} // namespace

Err make_type(TypeShape shape, Contents contents, Datatype*& type) {
    if (shape.too_large)
        return fail(Err::arg, "use smaller counts or displacements",
                    "the size or extent of the datatype exceeds 2^63 - 1 bytes");
    Datatype* made = slab().make();
    if (made != nullptr) made->derived = new (std::nothrow) Derived;
    if (made == nullptr || made->derived == nullptr) {
        if (made != nullptr) slab().destroy(*made);
        return fail(Err::no_mem, "free datatypes", "no memory for another datatype");
    }
    made->refs.store(1, std::memory_order_relaxed);
    for (Datatype* subtype : contents.types) retain(*subtype);
    made->derived->contents = std::move(contents);
    made->derived->shape = std::move(shape);
    apply_shape(*made);
    type = made;
    return Err::success;
}

void retain(Datatype& type) {
    if (type.derived != nullptr) add_ref(type);
}

void release(Datatype& type) {
    if (type.derived == nullptr || !release_ref(type)) return;
    const std::unique_ptr<Derived> derived(type.derived);
    slab().destroy(type);
    for (Datatype* subtype : derived->contents.types) release(*subtype);
}

Datatype* datatype_by_index(uint32_t index) { return slab().find(index); }

Datatype& builtin_type(TypeId id) noexcept { return table.types[static_cast<size_t>(id)]; }

bool is_committed(const Datatype& type) noexcept {
    return type.derived == nullptr || type.derived->committed;
}

Err type_commit(Datatype*& type) {
    if (type->derived != nullptr) type->derived->committed = true;
    return Err::success;
}

Err type_free(Datatype*& type) {
    if (type->derived == nullptr || type->derived->permanent)
        return fail(Err::type, "free only datatypes created by a constructor",
                    "a predefined datatype cannot be freed");
    if (type->derived->handles == 1)
        if (const Err e = erase_type_attributes(*type); e != Err::success) return e;
    --type->derived->handles;
    release(*type);
    type = nullptr;
    return Err::success;
}

Err type_size(Datatype& type, int64_t& size) {
    size = type.size;
    return Err::success;
}

Err type_get_extent(Datatype& type, int64_t& lower, int64_t& extent) {
    lower = type.lower;
    extent = type.extent;
    return Err::success;
}

Err type_get_true_extent(Datatype& type, int64_t& lower, int64_t& extent) {
    lower = type.true_lower;
    extent = type.true_extent;
    return Err::success;
}

Err get_count(const Status& status, Datatype& type, int64_t& count) {
    if (type.size <= 0)
        count = status.bytes == 0 ? 0 : undefined;
    else
        count = status.bytes % type.size == 0 ? status.bytes / type.size : undefined;
    return Err::success;
}

Err get_elements(const Status& status, Datatype& type, int64_t& count) {
    if (!elements_in(*signature_of(type), status.bytes, count)) count = undefined;
    return Err::success;
}

int64_t bytes_of_elements(const Datatype& type, int64_t elements) {
    return bytes_in(*signature_of(type), elements);
}

} // namespace zipmpi::core
