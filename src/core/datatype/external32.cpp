// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/external32.hpp"

#include "core/datatype/datatype.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace zipmpi::core {
namespace {

static_assert(std::endian::native == std::endian::little, "byte swapping requires a little-endian host");

enum class Encoding { bytes, swapped, integer, extended };

// A basic type, as `components` consecutive values.
struct Format {
    Encoding encoding = Encoding::bytes;
    int64_t native = 1;
    int64_t external = 1;
    int64_t components = 1;
    bool is_signed = false;
};

template <class T>
constexpr Format format_of() {
    constexpr int64_t size = sizeof(T);
    if constexpr (std::is_same_v<T, long double>)
        return {Encoding::extended, size, 16, 1, true};
    else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::byte> || size == 1)
        return {};
    else if constexpr (requires(T c) { c.real(); }) {
        Format component = format_of<typename T::value_type>();
        component.components = 2;
        return component;
    } else
        return {Encoding::swapped, size, size, 1, false};
}

Format format_of(TypeId id) {
    switch (id) {
    case TypeId::LONG:
        return {Encoding::integer, sizeof(long), 4, 1, true};
    case TypeId::UNSIGNED_LONG:
        return {Encoding::integer, sizeof(long), 4, 1, false};
    case TypeId::WCHAR:
        return {Encoding::integer, sizeof(wchar_t), 2, 1, false};
    default:
        break;
    }
    switch (id) {
#define ZIPMPI_X(id_, name_, ctype)                                                                          \
    case TypeId::id_:                                                                                        \
        return format_of<typename Argument<void ctype>::type>();
        ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
    case TypeId::count_:
        break;
    }
    return {};
}

void swap_each(const std::byte* from, std::byte* to, int64_t size, int64_t n) {
    for (int64_t i = 0; i < n; ++i) std::reverse_copy(from + i * size, from + (i + 1) * size, to + i * size);
}

Err value_overflow(int64_t value) {
    return fail(Err::conversion, "use a datatype of a fixed size such as MPI_INT64_T",
                "the value %lld does not fit into the external32 size of this type",
                static_cast<long long>(value));
}

int64_t load_native(const std::byte* from, const Format& f) {
    int64_t value = 0;
    std::memcpy(&value, from, static_cast<size_t>(f.native));
    const auto unused = static_cast<int>(8 * (8 - f.native));
    return f.is_signed ? value << unused >> unused : value;
}

bool fits(int64_t value, const Format& f) {
    const int bits = static_cast<int>(8 * f.external);
    if (!f.is_signed) return value >= 0 && (value >> bits) == 0;
    return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1);
}

Err integers_to_external(const std::byte* from, std::byte* to, const Format& f, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const int64_t value = load_native(from + i * f.native, f);
        if (!fits(value, f)) return value_overflow(value);
        for (int64_t k = 0; k < f.external; ++k)
            to[i * f.external + k] = static_cast<std::byte>(value >> (8 * (f.external - 1 - k)));
    }
    return Err::success;
}

void integers_from_external(const std::byte* from, std::byte* to, const Format& f, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const bool negative = f.is_signed && (from[i * f.external] & std::byte{0x80}) != std::byte{0};
        uint64_t value = negative ? ~uint64_t{0} : 0;
        for (int64_t k = 0; k < f.external; ++k)
            value = value << 8 | static_cast<uint64_t>(from[i * f.external + k]);
        std::memcpy(to + i * f.native, &value, static_cast<size_t>(f.native));
    }
}

template <class From, class To>
void convert_one(const std::byte* from, std::byte* to) {
    From value;
    std::memcpy(&value, from, sizeof value);
    const To converted = static_cast<To>(value);
    std::memcpy(to, &converted, sizeof converted);
}

void extended_to_external(const std::byte* from, std::byte* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        std::byte wide[16];
        convert_one<long double, Binary128>(from + i * static_cast<int64_t>(sizeof(long double)), wide);
        std::reverse_copy(wide, wide + 16, to + i * 16);
    }
}

void extended_from_external(const std::byte* from, std::byte* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        std::byte wide[16];
        std::reverse_copy(from + i * 16, from + (i + 1) * 16, wide);
        convert_one<Binary128, long double>(wide, to + i * static_cast<int64_t>(sizeof(long double)));
    }
}

struct ToExternal {
    static Err convert(const Format& f, const std::byte* from, std::byte* to, int64_t n) {
        switch (f.encoding) {
        case Encoding::bytes:
            std::memcpy(to, from, static_cast<size_t>(n));
            break;
        case Encoding::swapped:
            swap_each(from, to, f.native, n);
            break;
        case Encoding::integer:
            return integers_to_external(from, to, f, n);
        case Encoding::extended:
            extended_to_external(from, to, n);
            break;
        }
        return Err::success;
    }
};

struct FromExternal {
    static Err convert(const Format& f, const std::byte* from, std::byte* to, int64_t n) {
        switch (f.encoding) {
        case Encoding::bytes:
            std::memcpy(to, from, static_cast<size_t>(n));
            break;
        case Encoding::swapped:
            swap_each(from, to, f.native, n);
            break;
        case Encoding::integer:
            integers_from_external(from, to, f, n);
            break;
        case Encoding::extended:
            extended_from_external(from, to, n);
            break;
        }
        return Err::success;
    }
};

int64_t external_bytes(const SignatureTerm& t) {
    if (t.signature != nullptr) return external_bytes(*t.signature);
    const Format f = format_of(t.basic);
    return f.external * f.components;
}

template <class Way>
Err walk(const Signature& signature, int64_t count, const std::byte*& from, std::byte*& to) {
    constexpr bool out = std::is_same_v<Way, ToExternal>;
    for (int64_t i = 0; i < count; ++i) {
        for (const SignatureTerm& t : signature.terms) {
            if (t.signature != nullptr) {
                if (const Err e = walk<Way>(*t.signature, t.count, from, to); e != Err::success) return e;
                continue;
            }
            const Format f = format_of(t.basic);
            const int64_t n = t.count * f.components;
            if (const Err e = Way::convert(f, from, to, n); e != Err::success) return e;
            from += n * (out ? f.native : f.external);
            to += n * (out ? f.external : f.native);
        }
    }
    return Err::success;
}

} // namespace

int64_t external_bytes(const Signature& signature) {
    int64_t bytes = 0;
    for (const SignatureTerm& t : signature.terms) bytes += t.count * external_bytes(t);
    return bytes;
}

Err to_external(const Signature& signature, int64_t count, const std::byte* from, std::byte* to) {
    return walk<ToExternal>(signature, count, from, to);
}

void from_external(const Signature& signature, int64_t count, const std::byte* from, std::byte* to) {
    static_cast<void>(walk<FromExternal>(signature, count, from, to));
}

} // namespace zipmpi::core
