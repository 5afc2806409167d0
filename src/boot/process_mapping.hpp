// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The attribute PMI_process_mapping: which ranks share a node, without any exchange between ranks.
//
//   (vector,(first node,nodes,ranks per node),...)
//
// Each block gives the next ranks to its nodes in turn; the blocks are used again from the front until every
// rank has its node. Pure functions; the text comes from a peer and is not trusted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace zipmpi::boot {

// The ranks on the node of `rank`, ascending. False: the text is not a mapping of at least one rank.
// Cost: one walk over `size` ranks; memory for the ranks of this node only.
bool ranks_on_my_node(std::string_view mapping, int rank, int size, std::vector<int>& node_ranks);

// The node of every rank, as the mapping numbers them. False as above.
bool node_of_each(std::string_view mapping, int size, std::vector<int64_t>& nodes);

// "0,2,5-7" -> 0 2 5 6 7. False: not such a list, not ascending, or a rank that is not below size.
bool parse_rank_list(std::string_view list, int size, std::vector<int>& ranks);

} // namespace zipmpi::boot
