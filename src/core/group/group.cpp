// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Group calls. Each takes time linear in the groups and lists passed.
#include "core/group/group.hpp"

#include "core/api/comm.hpp"
#include "core/runtime_state.hpp"

#include <algorithm>

namespace zipmpi::core {
namespace {

Slab<Group>& slab() {
    static auto* const s = new Slab<Group>; // never destroyed: see slab.hpp
    return *s;
}

struct Empty : Group {
    Empty() { cls = ObjectKind::group; }
};

Err copy_marked(const Group& group, const std::vector<bool>& marked, bool wanted, Group*& result) {
    std::vector<int> ranks;
    for (int r = 0; r < group.members.size(); ++r)
        if (marked[static_cast<size_t>(r)] == wanted) ranks.push_back(group.members[r]);
    return make_group(Members(std::move(ranks)), group.session, result);
}

// The ranks of a list, which must be distinct and in the group.
class RankList {
  public:
    explicit RankList(const Group& group)
        : group_(group)
        , marked_(static_cast<size_t>(group.members.size())) {}

    Err add(int rank) {
        if (rank < 0 || rank >= group_.members.size())
            return fail(Err::rank, "pass ranks of the group",
                        "rank %d is not in the group, which has %d ranks", rank, group_.members.size());
        if (marked_[static_cast<size_t>(rank)])
            return fail(Err::rank, "pass each rank once", "rank %d appears twice", rank);
        marked_[static_cast<size_t>(rank)] = true;
        ranks_.push_back(group_.members[rank]);
        return Err::success;
    }
    Err add_all(int n, const int* ranks) {
        if (n < 0) return fail(Err::arg, "pass 0 or more", "n is %d", n);
        if (n > 0 && ranks == nullptr)
            return fail(Err::arg, "pass a list of ranks", "ranks is a null pointer");
        for (int i = 0; i < n; ++i)
            if (const Err e = add(ranks[i]); e != Err::success) return e;
        return Err::success;
    }
    Err add_ranges(int n, const int ranges[][3]) {
        if (n < 0) return fail(Err::arg, "pass 0 or more", "n is %d", n);
        if (n > 0 && ranges == nullptr)
            return fail(Err::arg, "pass a list of ranges", "ranges is a null pointer");
        for (int i = 0; i < n; ++i)
            if (const Err e = add_range(ranges[i][0], ranges[i][1], ranges[i][2]); e != Err::success)
                return e;
        return Err::success;
    }
    std::vector<int> take() { return std::move(ranks_); }
    [[nodiscard]] const std::vector<bool>& marked() const { return marked_; }

  private:
    Err add_range(int first, int last, int64_t stride) {
        if (stride == 0 || (stride > 0 && first > last) || (stride < 0 && first < last))
            return fail(Err::arg, "pass a first rank, a last rank, and a stride that leads to it",
                        "the range is %d to %d by %lld", first, last, static_cast<long long>(stride));
        for (int64_t r = first; stride > 0 ? r <= last : r >= last; r += stride)
            if (const Err e = add(static_cast<int>(r)); e != Err::success) return e;
        return Err::success;
    }
    const Group& group_;
    std::vector<bool> marked_;
    std::vector<int> ranks_; // world ranks
};

// Marks the members of a that are in b.
std::vector<bool> shared_members(const Group& a, const Group& b) {
    const RankIndex in_b(b.members);
    std::vector<bool> shared(static_cast<size_t>(a.members.size()));
    for (int r = 0; r < a.members.size(); ++r) shared[static_cast<size_t>(r)] = in_b[a.members[r]] >= 0;
    return shared;
}

} // namespace

Group& group_empty() noexcept {
    static Empty empty;
    return empty;
}

Group* group_by_index(uint32_t index) { return slab().find(index); }

Err make_group(Members members, Session* session, Group*& group) {
    if (members.size() == 0) {
        group = &group_empty();
        return Err::success;
    }
    group = slab().make();
    if (group == nullptr) return fail(Err::no_mem, "free memory", "no memory for another group");
    group->rank = members.find(runtime()->job.rank);
    group->members = std::move(members);
    group->session = session;
    return Err::success;
}

Err group_free(Group*& group) {
    if (group != &group_empty()) slab().destroy(*group);
    group = nullptr;
    return Err::success;
}

Err group_size(Group& group, int& size) {
    size = group.members.size();
    return Err::success;
}

Err group_rank(Group& group, int& rank) {
    rank = group.rank >= 0 ? group.rank : undefined;
    return Err::success;
}

Err group_compare(Group& a, Group& b, Comparison& result) {
    result = compare(a.members, b.members);
    return Err::success;
}

Comparison compare(const Members& a, const Members& b) {
    if (a == b) return Comparison::ident;
    if (a.size() != b.size()) return Comparison::unequal;
    const RankIndex in_b(b);
    for (int r = 0; r < a.size(); ++r)
        if (in_b[a[r]] < 0) return Comparison::unequal;
    return Comparison::similar;
}

Err group_translate_ranks(Group& a, int n, const int* ranks_a, Group& b, int* ranks_b) {
    if (n < 0) return fail(Err::arg, "pass 0 or more", "n is %d", n);
    if (n > 0 && ranks_a == nullptr)
        return fail(Err::arg, "pass a list of ranks", "ranks1 is a null pointer");
    const RankIndex in_b(b.members);
    for (int i = 0; i < n; ++i) {
        if (ranks_a[i] == proc_null) {
            ranks_b[i] = proc_null;
            continue;
        }
        if (ranks_a[i] < 0 || ranks_a[i] >= a.members.size())
            return fail(Err::rank, "pass ranks of the first group, or MPI_PROC_NULL",
                        "rank %d is not in the group, which has %d ranks", ranks_a[i], a.members.size());
        const int found = in_b[a.members[ranks_a[i]]];
        ranks_b[i] = found >= 0 ? found : undefined;
    }
    return Err::success;
}

Err group_incl(Group& group, int n, const int* ranks, Group*& result) {
    RankList list(group);
    if (const Err e = list.add_all(n, ranks); e != Err::success) return e;
    return make_group(Members(list.take()), group.session, result);
}

Err group_excl(Group& group, int n, const int* ranks, Group*& result) {
    RankList list(group);
    if (const Err e = list.add_all(n, ranks); e != Err::success) return e;
    return copy_marked(group, list.marked(), false, result);
}

Err group_range_incl(Group& group, int n, const int ranges[][3], Group*& result) {
    RankList list(group);
    if (const Err e = list.add_ranges(n, ranges); e != Err::success) return e;
    return make_group(Members(list.take()), group.session, result);
}

Err group_range_excl(Group& group, int n, const int ranges[][3], Group*& result) {
    RankList list(group);
    if (const Err e = list.add_ranges(n, ranges); e != Err::success) return e;
    return copy_marked(group, list.marked(), false, result);
}

Err group_union(Group& a, Group& b, Group*& result) {
    std::vector<int> ranks;
    ranks.reserve(static_cast<size_t>(a.members.size()));
    for (int r = 0; r < a.members.size(); ++r) ranks.push_back(a.members[r]);
    const std::vector<bool> in_both = shared_members(b, a);
    for (int r = 0; r < b.members.size(); ++r)
        if (!in_both[static_cast<size_t>(r)]) ranks.push_back(b.members[r]);
    return make_group(Members(std::move(ranks)), a.session != nullptr ? a.session : b.session, result);
}

Err group_intersection(Group& a, Group& b, Group*& result) {
    return copy_marked(a, shared_members(a, b), true, result);
}

Err group_difference(Group& a, Group& b, Group*& result) {
    return copy_marked(a, shared_members(a, b), false, result);
}

} // namespace zipmpi::core
