// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/representation.hpp"

#include "core/api/datatype.hpp"
#include "core/datatype/contiguous.hpp"
#include "core/datatype/derived.hpp"
#include "core/datatype/external32.hpp"
#include "core/runtime_unlock_guard.hpp"

#include <cstring>
#include <list>

namespace zipmpi::core::io {
namespace {

constexpr size_t name_max = 127; // MPI_MAX_DATAREP_STRING less the final zero

std::list<Representation>& representations() {
    using Kind = Representation::Kind;
    static auto* const list = new std::list<Representation>{
        {"native", Kind::native, {}}, {"internal", Kind::native, {}}, {"external32", Kind::external32, {}}};
    return *list;
}

Err basic_bytes_in_file(const Representation& r, TypeId id, int64_t& bytes) {
    Datatype& type = builtin_type(id);
    bytes = type.size;
    if (r.kind == Representation::Kind::external32) bytes = external_bytes(*signature_of(id));
    if (r.kind != Representation::Kind::user_defined) return Err::success;
    const RuntimeUnlockGuard unlocked;
    const Conversion& c = r.conversion;
    return c.calls->extent(c.extent, type, bytes, c.extra_state);
}

Err add_bytes(const Representation& r, const Signature& signature, int64_t times, int64_t& bytes) {
    for (const SignatureTerm& t : signature.terms) {
        if (t.signature != nullptr) {
            if (const Err e = add_bytes(r, *t.signature, times * t.count, bytes); e != Err::success) return e;
            continue;
        }
        int64_t each = 0;
        if (const Err e = basic_bytes_in_file(r, t.basic, each); e != Err::success) return e;
        bytes += times * t.count * each;
    }
    return Err::success;
}

// True if every basic type has equal size in file and memory.
Err preserves_sizes(const Representation& r, const Signature& signature, bool& keeps) {
    for (const SignatureTerm& t : signature.terms) {
        if (t.signature != nullptr) {
            if (const Err e = preserves_sizes(r, *t.signature, keeps); e != Err::success) return e;
            continue;
        }
        int64_t each = 0;
        if (const Err e = basic_bytes_in_file(r, t.basic, each); e != Err::success) return e;
        keeps = keeps && each == builtin_type(t.basic).size;
    }
    return Err::success;
}

// Reads the arguments of a constructor in sequence from Contents.
class ArgumentReader {
  public:
    explicit ArgumentReader(const Contents& c)
        : c_(c)
        , large_(!c.large_counts.empty()) {}
    int64_t count() { return large_ ? next_large() : c_.integers[integers_++]; }
    int64_t integer() { return c_.integers[integers_++]; }
    int64_t address() { return large_ ? next_large() : c_.addresses[addresses_++]; }
    CountArray counts(int64_t n) { return large_ ? large_row(n) : row(c_.integers, integers_, n); }
    CountArray addresses(int64_t n) { return large_ ? large_row(n) : row(c_.addresses, addresses_, n); }
    std::vector<int> integers(int64_t n) {
        std::vector<int> values;
        for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<int>(integer()));
        return values;
    }

  private:
    int64_t next_large() { return c_.large_counts[large_counts_++]; }
    CountArray large_row(int64_t n) { return row(c_.large_counts, large_counts_, n); }
    static CountArray row(const std::vector<int64_t>& values, size_t& at, int64_t n) {
        const CountArray result{values.data() + at, true};
        at += static_cast<size_t>(n);
        return result;
    }
    const Contents& c_;
    bool large_;
    size_t integers_ = 0;
    size_t addresses_ = 0;
    size_t large_counts_ = 0;
};

Err remake_darray(ArgumentReader& a, Datatype& old, Datatype*& made) {
    const auto size = static_cast<int>(a.integer());
    const auto rank = static_cast<int>(a.integer());
    const int64_t dims = a.integer();
    const CountArray sizes = a.counts(dims);
    const std::vector<int> distributions = a.integers(dims);
    const std::vector<int> arguments = a.integers(dims);
    const std::vector<int> psizes = a.integers(dims);
    return type_create_darray(size, rank, dims, sizes, distributions.data(), arguments.data(), psizes.data(),
                              static_cast<int>(a.integer()), old, made, true);
}

Err remake_subarray(ArgumentReader& a, Datatype& old, Datatype*& made) {
    const int64_t dims = a.integer();
    const CountArray sizes = a.counts(dims);
    const CountArray subsizes = a.counts(dims);
    const CountArray starts = a.counts(dims);
    return type_create_subarray(dims, sizes, subsizes, starts, static_cast<int>(a.integer()), old, made,
                                true);
}

// Repeats the constructor call with other types.
Err remake(const Contents& c, Datatype** types, Datatype*& made) {
    ArgumentReader a(c);
    Datatype& old = *types[0];
    switch (c.combiner) {
    case Combiner::contiguous:
        return type_contiguous(a.count(), old, made, true);
    case Combiner::subarray:
        return remake_subarray(a, old, made);
    case Combiner::darray:
        return remake_darray(a, old, made);
    case Combiner::resized: {
        const int64_t lower = a.address();
        return type_create_resized(old, lower, a.address(), made, true);
    }
    case Combiner::dup:
        return type_contiguous(1, old, made, true);
    default:
        break;
    }
    const int64_t n = a.count();
    switch (c.combiner) {
    case Combiner::vector:
    case Combiner::hvector: {
        const int64_t block = a.count();
        if (c.combiner == Combiner::vector) return type_vector(n, block, a.count(), old, made, true);
        return type_create_hvector(n, block, a.address(), old, made, true);
    }
    case Combiner::indexed_block:
    case Combiner::hindexed_block: {
        const int64_t block = a.count();
        if (c.combiner == Combiner::indexed_block)
            return type_create_indexed_block(n, block, a.counts(n), old, made, true);
        return type_create_hindexed_block(n, block, a.addresses(n), old, made, true);
    }
    default:
        break;
    }
    const CountArray blocks = a.counts(n);
    if (c.combiner == Combiner::indexed) return type_indexed(n, blocks, a.counts(n), old, made, true);
    if (c.combiner == Combiner::hindexed)
        return type_create_hindexed(n, blocks, a.addresses(n), old, made, true);
    return type_create_struct(n, blocks, a.addresses(n), types, made, true);
}

bool has_component_types(const Datatype& type) {
    return type.derived != nullptr && !type.derived->contents.types.empty() &&
           type.derived->contents.combiner != Combiner::value_index;
}

Err remade_type(const Representation& r, Datatype& type, TypeShare& result) {
    Datatype* made = nullptr;
    if (!has_component_types(type)) {
        int64_t bytes = 0;
        if (const Err e = bytes_in_file(r, type, bytes); e != Err::success) return e;
        if (const Err e = type_contiguous(bytes, builtin_type(TypeId::BYTE), made, true); e != Err::success)
            return e;
        result = TypeShare(made);
        return Err::success;
    }
    const Contents& c = type.derived->contents;
    std::vector<TypeShare> components(c.types.size());
    std::vector<Datatype*> types;
    for (size_t i = 0; i < components.size(); ++i) {
        if (const Err e = remade_type(r, *c.types[i], components[i]); e != Err::success) return e;
        types.push_back(components[i].get());
    }
    const Err e = remake(c, types.data(), made);
    if (e == Err::success) result = TypeShare(made);
    return e;
}

Err convert(const Representation& r, void* function, void* user, int64_t count, Datatype& type, void* file) {
    const Conversion& c = r.conversion;
    const RuntimeUnlockGuard unlocked;
    return c.calls->convert(function, user, type, count, file, 0, c.extra_state);
}

} // namespace

const Representation* find_representation(const char* name) {
    for (const Representation& r : representations())
        if (r.name == name) return &r;
    return nullptr;
}

Err add_representation(const char* name, const Conversion& conversion) {
    if (std::strlen(name) > name_max || *name == '\0')
        return fail(Err::arg, "pass a name of 1 to 127 characters",
                    "the name of the representation has %zu characters", std::strlen(name));
    if (find_representation(name) != nullptr)
        return fail(Err::dup_datarep, "choose another name", "the representation %s already exists", name);
    representations().push_back({name, Representation::Kind::user_defined, conversion});
    return Err::success;
}

Err bytes_in_file(const Representation& r, const Datatype& type, int64_t& bytes) {
    bytes = type.size;
    if (r.is_native()) return Err::success;
    bytes = 0;
    return add_bytes(r, *signature_of(type), 1, bytes);
}

Err type_in_file(const Representation& r, Datatype& type, TypeShare& result) {
    bool keeps = true;
    if (!r.is_native())
        if (const Err e = preserves_sizes(r, *signature_of(type), keeps); e != Err::success) return e;
    if (!keeps) return remade_type(r, type, result);
    result = share(type);
    return Err::success;
}

Err to_file(const Representation& r, const void* buffer, int64_t count, Datatype& type, void* file) {
    if (r.kind == Representation::Kind::user_defined && r.conversion.write != nullptr)
        return convert(r, r.conversion.write, const_cast<void*>(buffer), count, type, file);
    if (r.kind != Representation::Kind::external32) {
        pack_all(file, buffer, count, type);
        return Err::success;
    }
    PackedInput native;
    if (const Err e = native.open(buffer, count, type); e != Err::success) return e;
    return to_external(*signature_of(type), count, static_cast<const std::byte*>(native.data()),
                       static_cast<std::byte*>(file));
}

Err from_file(const Representation& r, void* buffer, int64_t count, Datatype& type, const void* file) {
    if (r.kind == Representation::Kind::user_defined && r.conversion.read != nullptr)
        return convert(r, r.conversion.read, buffer, count, type, const_cast<void*>(file));
    if (r.kind != Representation::Kind::external32) {
        unpack_first(buffer, count, type, file, packed_bytes(count, type));
        return Err::success;
    }
    ContiguousOutput native;
    if (const Err e = native.open(buffer, count, type); e != Err::success) return e;
    from_external(*signature_of(type), count, static_cast<const std::byte*>(file),
                  static_cast<std::byte*>(native.data()));
    native.close(native.bytes());
    return Err::success;
}

} // namespace zipmpi::core::io
