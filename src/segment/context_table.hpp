// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Context ids in use by the ranks of a node: core/comm/context.cpp allocates them.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi::segment {

struct ContextTable {
    std::atomic<uint32_t>& hint;    // all lower ids are probably in use
    std::atomic<uint32_t>* holders; // by id: ranks that hold it
};

} // namespace zipmpi::segment
