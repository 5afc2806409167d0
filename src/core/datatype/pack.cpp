// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Pack and MPI_Unpack. Packed data is the payload of a message without a header: it may be sent as
// MPI_PACKED and received with the original type, and vice versa.
#include "core/api/datatype.hpp"
#include "core/datatype/contiguous.hpp"
#include "core/datatype/derived.hpp"
#include "core/datatype/external32.hpp"

#include <cstring>

namespace zipmpi::core {
namespace {

std::byte* at(void* buffer, int64_t position) { return static_cast<std::byte*>(buffer) + position; }
const std::byte* at(const void* buffer, int64_t position) {
    return static_cast<const std::byte*>(buffer) + position;
}

Err check_capacity(int64_t size, int64_t position, int64_t bytes, const char* advice) {
    if (position >= 0 && position <= size && bytes <= size - position) return Err::success;
    return fail(Err::truncate, advice, "%lld bytes at position %lld exceed a buffer of %lld bytes",
                static_cast<long long>(bytes), static_cast<long long>(position),
                static_cast<long long>(size));
}

Err check_pack_arguments(int64_t count, const Datatype& type, int64_t each, int64_t& bytes) {
    if (count < 0)
        return fail(Err::count, "pass 0 or more", "the count is %lld", static_cast<long long>(count));
    if (type.size < 0)
        return fail(Err::type, "use a type that this platform supports",
                    "%s is not supported on this platform", type.name);
    if (__builtin_mul_overflow(count, each, &bytes))
        return fail(Err::count, "pack less data per call", "the packed size exceeds 2^63 - 1 bytes");
    return Err::success;
}

constexpr const char* pack_size_advice = "pass a buffer of the size that MPI_Pack_size returns";
constexpr const char* unpack_size_advice = "unpack no more than was packed";

Err check_format(const char* format) {
    if (std::strcmp(format, "external32") == 0) return Err::success;
    return fail(Err::unsupported_datarep, "pass external32", "the data representation %s is unknown", format);
}

} // namespace

Err pack(const void* in, int64_t count, Datatype& type, void* out, int64_t size, int64_t& position, Comm&) {
    int64_t bytes = 0;
    if (const Err e = check_pack_arguments(count, type, type.size, bytes); e != Err::success) return e;
    if (const Err e = check_capacity(size, position, bytes, pack_size_advice); e != Err::success) return e;
    pack_all(at(out, position), in, count, type);
    position += bytes;
    return Err::success;
}

Err unpack(const void* in, int64_t size, int64_t& position, void* out, int64_t count, Datatype& type, Comm&) {
    int64_t bytes = 0;
    if (const Err e = check_pack_arguments(count, type, type.size, bytes); e != Err::success) return e;
    if (const Err e = check_capacity(size, position, bytes, unpack_size_advice); e != Err::success) return e;
    unpack_first(out, count, type, at(in, position), static_cast<uint64_t>(bytes));
    position += bytes;
    return Err::success;
}

Err pack_size(int64_t count, Datatype& type, Comm&, int64_t& size) {
    return check_pack_arguments(count, type, type.size, size);
}

Err pack_external(const char* format, const void* in, int64_t count, Datatype& type, void* out, int64_t size,
                  int64_t& position) {
    int64_t bytes = 0;
    if (const Err e = pack_external_size(format, count, type, bytes); e != Err::success) return e;
    if (const Err e = check_capacity(size, position, bytes, pack_size_advice); e != Err::success) return e;
    PackedInput native;
    if (const Err e = native.open(in, count, type); e != Err::success) return e;
    const Err e = to_external(*signature_of(type), count, static_cast<const std::byte*>(native.data()),
                              at(out, position));
    if (e == Err::success) position += bytes;
    return e;
}

Err unpack_external(const char* format, const void* in, int64_t size, int64_t& position, void* out,
                    int64_t count, Datatype& type) {
    int64_t bytes = 0;
    if (const Err e = pack_external_size(format, count, type, bytes); e != Err::success) return e;
    if (const Err e = check_capacity(size, position, bytes, unpack_size_advice); e != Err::success) return e;
    ContiguousOutput native;
    if (const Err e = native.open(out, count, type); e != Err::success) return e;
    from_external(*signature_of(type), count, at(in, position), static_cast<std::byte*>(native.data()));
    native.close(native.bytes());
    position += bytes;
    return Err::success;
}

Err pack_external_size(const char* format, int64_t count, Datatype& type, int64_t& size) {
    if (const Err e = check_format(format); e != Err::success) return e;
    return check_pack_arguments(count, type, external_bytes(*signature_of(type)), size);
}

} // namespace zipmpi::core
