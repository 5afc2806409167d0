// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Wakes the sleeping threads of all ranks of a node.
#pragma once

namespace zipmpi::segment {

class NodeSegment;

void wake_all(const NodeSegment& segment);

} // namespace zipmpi::segment
