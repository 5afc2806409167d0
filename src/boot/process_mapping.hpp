// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parser of the attribute PMI_process_mapping, which gives the node of each rank without communication.
//
//   (vector,(first node,nodes,ranks per node),...)
//
// Each block assigns the next ranks to its nodes in order; the blocks repeat until every rank has a node.
// Pure functions; the text comes from the launcher and is not trusted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace zipmpi::boot {

// Ranks on the node of `rank`, ascending. Returns false if the text is not a mapping of at least one rank.
// Cost: one pass over `size` ranks; memory only for the ranks of this node.
bool parse_local_ranks(std::string_view mapping, int rank, int size, std::vector<int>& node_ranks);

// Node of every rank, numbered as in the mapping. Returns false for an invalid or empty mapping.
bool parse_rank_nodes(std::string_view mapping, int size, std::vector<int64_t>& nodes);

// "0,2,5-7" -> 0 2 5 6 7. Returns false if the syntax is wrong, ranks are not ascending, or a rank is not
// below size.
bool parse_rank_list(std::string_view list, int size, std::vector<int>& ranks);

} // namespace zipmpi::boot
