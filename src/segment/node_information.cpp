// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/node_information.hpp"

#include "segment/wake_all.hpp"

namespace zipmpi::segment {

// seq_cst: pairs with await(). A rank woken for other information calls await() again.
void NodeInformation::notify() const {
    if (shared_.awaited.load(std::memory_order_seq_cst) == 0) return;
    shared_.awaited.store(0, std::memory_order_seq_cst);
    wake_all(segment_);
}

} // namespace zipmpi::segment
