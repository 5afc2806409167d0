// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hwtopo/machine.hpp"

namespace zipmpi::core {

inline constexpr hwtopo::Locality unknown_locality{hwtopo::spans_several, hwtopo::spans_several,
                                                   hwtopo::spans_several, hwtopo::spans_several,
                                                   hwtopo::spans_several, hwtopo::spans_several};

// Locality of this process. Detects it if the launcher did not provide it; may wait for another rank that is
// detecting it. Returns false if it is unknown.
bool find_own_locality(hwtopo::Locality& locality);

// Locality of another process of the job, determined without its participation; the first result is used by
// all ranks. Waits until the process has started; returns unknown_locality if it has failed.
hwtopo::Locality locality_of_peer(int world_rank);

} // namespace zipmpi::core
