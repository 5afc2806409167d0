// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/select/select.hpp"

#include "base/param.hpp"
#include "proto/p2p/chunks.hpp"
#include "wire/envelope.hpp"

#include <algorithm>

namespace zipmpi::proto {
namespace {

// thresholds_from(built_in_costs()), worked out beforehand because every rank would do it at its start; a
// unit test holds the two together.
constexpr Thresholds built_in[topo::pair_classes] = {
    // eager, kernel from and to, fragment, window, direct, joint from and to, joint if shared,
    // {in place of the kernel}
    {32704, 1024, UINT64_MAX, 16384, 131072, 19521, UINT64_MAX, 0, UINT64_MAX, {1880, 72, 140, 262144}},
    {32553, 22609, 655554, 32704, 262144, 2048, UINT64_MAX, 0, UINT64_MAX, {270, 87, 75, 524288}},
    {7131, 3584, 3683010, 32704, 262144, 2048, 49152, UINT64_MAX, 248935, {392, 178, 92, 16384}},
    {3004, 1254, UINT64_MAX, 32704, 524288, 2048, 49152, UINT64_MAX, 49152, {612, 297, 180, 16384}},
    {2005, 1024, UINT64_MAX, 32704, 524288, 2048, 49152, UINT64_MAX, 49152, {780, 413, 250, 16384}},
};

constexpr int64_t by_cost = -1;

// Both sides work on a message with gaps at the same time if it goes in several cells: from this size on that
// is worth a question, in parts of this size or a little more.
constexpr uint64_t worth_parts = 16 * KiB;
constexpr uint64_t part = 8 * KiB;

Param<int64_t> eager_limit{"p2p.eager_limit",
                           by_cost,
                           {by_cost, 16 * MiB},
                           Unit::bytes,
                           Level::tuner,
                           Scope::local,
                           "longest message sent without asking the receiver first; at most one cell; -1: by "
                           "the costs of the pair"};

Param<int64_t> kcopy_from{
    "p2p.kcopy_min",
    by_cost,
    {by_cost, INT64_MAX},
    Unit::bytes,
    Level::tuner,
    Scope::local,
    "shortest message, above p2p.eager_limit, taken out of the sender's buffer by one "
    "copy through the kernel, or by two CPUs if p2p.joint_min is not set; shorter ones go through cells; "
    "-1: by the costs of the pair"};

Param<int64_t> joint_from{"p2p.joint_min",
                          by_cost,
                          {by_cost, INT64_MAX},
                          Unit::bytes,
                          Level::tuner,
                          Scope::local,
                          "shortest message, above 32 KiB, whose sender helps to copy it through the kernel "
                          "if it waits in MPI; -1: by the costs of the pair"};

} // namespace

const Thresholds& thresholds_for(PairClass pair) { return built_in[static_cast<size_t>(pair)]; }

Thresholds settled(Thresholds t, uint64_t cell_bytes) {
    if (eager_limit != by_cost) t.eager_limit = static_cast<uint64_t>(eager_limit.get());
    if (kcopy_from != by_cost) {
        t.kcopy_min = static_cast<uint64_t>(kcopy_from.get());
        t.kcopy_max = UINT64_MAX;
        t.instead_of_kcopy.start_ns = UINT32_MAX; // whatever it takes
    }
    if (kcopy_from != by_cost && joint_from == by_cost) // it is the kernel that copies, here too
        t.joint_min = std::max(t.joint_min, t.kcopy_min);
    if (joint_from != by_cost) {
        t.joint_min = t.joint_shared_min = static_cast<uint64_t>(joint_from.get());
        t.joint_max = UINT64_MAX;
    }
    t.joint_min = std::max(t.joint_min, least_joint_bytes);
    t.joint_shared_min = std::max(t.joint_shared_min, t.joint_min);
    t.joint_max = std::min(t.joint_max, largest_joint_bytes);
    t.eager_limit = std::clamp<uint64_t>(t.eager_limit, wire::inline_max, cell_bytes);
    t.fragment_bytes = std::clamp<uint64_t>(t.fragment_bytes, 1, cell_bytes);
    t.window_bytes = std::max(t.window_bytes, 2 * t.fragment_bytes);
    t.gaps_eager_limit =
        eager_limit != by_cost ? t.eager_limit : std::max(t.eager_limit, std::min(worth_parts, cell_bytes));
    t.gaps_fragment_bytes = std::min(t.fragment_bytes, part);
    return t;
}

} // namespace zipmpi::proto
