// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/agree.hpp"

#include "proto/coll/coll.hpp"

namespace zipmpi::core::io {
namespace {

namespace coll = proto::coll;

Err of_another(Err error, size_t rank, const char* task) {
    return fail(error, "see what that rank says about it", "rank %zu could not %s", rank, task);
}

template <class T>
Err tell_all(File& file, T mine, std::vector<T>& all) {
    all.resize(static_cast<size_t>(file.team().size));
    all[static_cast<size_t>(file.team().rank)] = mine;
    return coll::allgather(file.team(), all.data(), sizeof(T));
}

} // namespace

Err agree(File& file, Err mine, const char* task) {
    std::vector<Err> all;
    if (const Err e = tell_all(file, mine, all); e != Err::success) return e;
    if (mine != Err::success) return mine;
    for (size_t r = 0; r < all.size(); ++r)
        if (all[r] != Err::success) return of_another(all[r], r, task);
    return Err::success;
}

Err agree_with_first(File& file, Err mine, const char* task) {
    Err first = mine;
    if (const Err e = coll::broadcast(file.team(), &first, sizeof first, 0); e != Err::success) return e;
    if (first == Err::success || file.team().rank == 0) return first;
    return of_another(first, 0, task);
}

Err check_same(File& file, int64_t value, const char* what) {
    std::vector<int64_t> all;
    if (const Err e = tell_all(file, value, all); e != Err::success) return e;
    for (const int64_t other : all)
        if (other != all[0])
            return fail(Err::not_same, "pass the same value on all processes",
                        "%s is not the same everywhere", what);
    return Err::success;
}

} // namespace zipmpi::core::io
