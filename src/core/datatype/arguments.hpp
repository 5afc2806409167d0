// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collects the arguments of a datatype constructor in the order in which MPI_Type_get_contents returns them;
// counts and displacements of a large-count form have a separate array.
#pragma once

#include "core/datatype/derived.hpp"
#include "core/runtime.hpp"

namespace zipmpi::core {

class Arguments {
  public:
    Arguments(Combiner combiner, bool large)
        : large_(large) {
        contents_.combiner = combiner;
    }
    Arguments& integer(int64_t value) {
        contents_.integers.push_back(value);
        return *this;
    }
    Arguments& integers(const int* values, int64_t n) {
        contents_.integers.insert(contents_.integers.end(), values, values + n);
        return *this;
    }
    Arguments& count(int64_t value) {
        (large_ ? contents_.large_counts : contents_.integers).push_back(value);
        return *this;
    }
    Arguments& counts(CountArray values, int64_t n) {
        for (int64_t i = 0; i < n; ++i) count(values[i]);
        return *this;
    }
    Arguments& address(int64_t value) {
        (large_ ? contents_.large_counts : contents_.addresses).push_back(value);
        return *this;
    }
    Arguments& addresses(CountArray values, int64_t n) {
        for (int64_t i = 0; i < n; ++i) address(values[i]);
        return *this;
    }
    Contents with_types(Datatype& type) {
        contents_.types = {&type};
        return std::move(contents_);
    }
    Contents with_types(Datatype** types, int64_t n) {
        contents_.types.assign(types, types + n);
        return std::move(contents_);
    }
    Contents without_types() { return std::move(contents_); }

  private:
    Contents contents_;
    bool large_;
};

// Returns an error for predefined types that this platform does not support.
Err check_usable(const Datatype& type);
[[gnu::cold]] Err extent_overflow();

} // namespace zipmpi::core
