// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collects the arguments of a constructor in the order in which MPI_Type_get_contents gives them back: counts
// and displacements of a large-count form are in an array of their own.
#pragma once

#include "core/datatype/derived.hpp"
#include "core/engine.hpp"

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
    Contents of(Datatype& type) {
        contents_.types = {&type};
        return std::move(contents_);
    }
    Contents of(Datatype** types, int64_t n) {
        contents_.types.assign(types, types + n);
        return std::move(contents_);
    }
    Contents of_nothing() { return std::move(contents_); }

  private:
    Contents contents_;
    bool large_;
};

// Some predefined types do not exist on every platform.
Err usable(const Datatype& type);
[[gnu::cold]] Err too_far();

} // namespace zipmpi::core
