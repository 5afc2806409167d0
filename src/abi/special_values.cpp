// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/special_values.hpp"

#include "core/api/datatype.hpp"

namespace zipmpi::abi {

void convert_contents(core::Datatype& type, int* integers) noexcept {
    core::Combiner combiner{};
    int64_t count = 0;
    int64_t addresses = 0;
    int64_t large_counts = 0;
    int64_t types = 0;
    if (core::type_get_envelope(type, count, addresses, large_counts, types, combiner) != Err::success)
        return;
    if (combiner != core::Combiner::subarray && combiner != core::Combiner::darray) return;
    integers[count - 1] = values::to_abi_order(integers[count - 1]);
    if (combiner != core::Combiner::darray) return;
    // size, rank, dimensions, sizes unless they are large counts, distributions, arguments, processes, order
    const int64_t dimensions = integers[2];
    int* const distributions = integers + 3 + (large_counts != 0 ? 0 : dimensions);
    convert_each(distributions, dimensions, values::to_abi_distribution);
    convert_each(distributions + dimensions, dimensions, values::to_abi_distribution_argument);
}

} // namespace zipmpi::abi
