// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/collective_status.hpp"

#include "proto/coll/coll.hpp"

namespace zipmpi::core::io {
namespace {

namespace coll = proto::coll;

Err remote_error(Err error, size_t rank, const char* task) {
    return fail(error, "see the error on that rank", "rank %zu could not %s", rank, task);
}

template <class T>
Err allgather_value(File& file, T value, std::vector<T>& all) {
    all.resize(static_cast<size_t>(file.team().size));
    all[static_cast<size_t>(file.team().rank)] = value;
    return coll::allgather(file.team(), all.data(), sizeof(T));
}

} // namespace

Err collective_status(File& file, Err own_error, const char* task) {
    std::vector<Err> all;
    if (const Err e = allgather_value(file, own_error, all); e != Err::success) return e;
    if (own_error != Err::success) return own_error;
    for (size_t r = 0; r < all.size(); ++r)
        if (all[r] != Err::success) return remote_error(all[r], r, task);
    return Err::success;
}

Err root_status(File& file, Err own_error, const char* task) {
    Err first = own_error;
    if (const Err e = coll::broadcast(file.team(), &first, sizeof first, 0); e != Err::success) return e;
    if (first == Err::success || file.team().rank == 0) return first;
    return remote_error(first, 0, task);
}

Err check_same(File& file, int64_t value, const char* what) {
    std::vector<int64_t> all;
    if (const Err e = allgather_value(file, value, all); e != Err::success) return e;
    for (const int64_t other : all)
        if (other != all[0])
            return fail(Err::not_same, "pass equal values on all processes", "%s differs between processes",
                        what);
    return Err::success;
}

} // namespace zipmpi::core::io
