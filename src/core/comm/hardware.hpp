// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/place.hpp"

namespace zipmpi::core {

inline constexpr topo::Place nowhere{topo::several, topo::several, topo::several,
                                     topo::several, topo::several, topo::several};

// Where on the machine this process is. Asks the machine if nobody has told; may wait for another rank that
// is doing so. False: nothing is known.
bool find_own_place(topo::Place& place);

// Where another process of the job is, found out without its help; what is found first holds for everybody.
// Waits until the process is there; nowhere if it has failed.
topo::Place place_of_peer(int world_rank);

} // namespace zipmpi::core
