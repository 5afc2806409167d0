// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Envelope and contents of a datatype.
#include "core/api/datatype.hpp"
#include "core/datatype/derived.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

const Contents& contents_of(const Datatype& type) {
    static const Contents named;
    return type.derived != nullptr ? type.derived->contents : named;
}

int64_t length(const std::vector<int64_t>& values) { return static_cast<int64_t>(values.size()); }

Err large_count_required() {
    return fail(Err::type, "call the large-count form (_c) of this function",
                "the datatype was created by the large-count form of its constructor");
}

Err too_short(const char* what, int64_t capacity, int64_t needed) {
    return fail(Err::arg, "pass arrays of the lengths that MPI_Type_get_envelope returns",
                "the array has space for %lld %s of %lld", static_cast<long long>(capacity), what,
                static_cast<long long>(needed));
}

} // namespace

Err type_get_envelope(Datatype& type, int64_t& integers, int64_t& addresses, int64_t& large_counts,
                      int64_t& types, Combiner& combiner) {
    const Contents& c = contents_of(type);
    integers = length(c.integers);
    addresses = length(c.addresses);
    large_counts = length(c.large_counts);
    types = static_cast<int64_t>(c.types.size());
    combiner = c.combiner;
    return Err::success;
}

Err type_get_envelope(Datatype& type, int64_t& integers, int64_t& addresses, int64_t& types,
                      Combiner& combiner) {
    int64_t large_counts = 0;
    const Err e = type_get_envelope(type, integers, addresses, large_counts, types, combiner);
    return e == Err::success && large_counts != 0 ? large_count_required() : e;
}

Err type_get_contents(Datatype& type, int64_t max_integers, int64_t max_addresses, int64_t max_large_counts,
                      int64_t max_types, int* integers, int64_t* addresses, int64_t* large_counts,
                      Datatype** types) {
    const Contents& c = contents_of(type);
    if (c.combiner == Combiner::named)
        return fail(Err::type, "call MPI_Type_get_envelope first", "a named datatype has no contents");
    if (max_integers < length(c.integers)) return too_short("integers", max_integers, length(c.integers));
    if (max_addresses < length(c.addresses))
        return too_short("addresses", max_addresses, length(c.addresses));
    if (max_large_counts < length(c.large_counts))
        return too_short("large counts", max_large_counts, length(c.large_counts));
    if (max_types < static_cast<int64_t>(c.types.size()))
        return too_short("datatypes", max_types, static_cast<int64_t>(c.types.size()));
    std::transform(c.integers.begin(), c.integers.end(), integers,
                   [](int64_t value) { return static_cast<int>(value); });
    std::copy(c.addresses.begin(), c.addresses.end(), addresses);
    std::copy(c.large_counts.begin(), c.large_counts.end(), large_counts);
    std::copy(c.types.begin(), c.types.end(), types);
    for (Datatype* subtype : c.types) { // the caller frees them
        retain(*subtype);
        if (subtype->derived != nullptr) ++subtype->derived->handles;
    }
    return Err::success;
}

Err type_get_contents(Datatype& type, int64_t max_integers, int64_t max_addresses, int64_t max_types,
                      int* integers, int64_t* addresses, Datatype** types) {
    if (!contents_of(type).large_counts.empty()) return large_count_required();
    return type_get_contents(type, max_integers, max_addresses, 0, max_types, integers, addresses, nullptr,
                             types);
}

} // namespace zipmpi::core
