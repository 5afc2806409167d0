// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/agreement_gather.hpp"

#include <algorithm>

namespace zipmpi::launch {

void AgreementGather::process(const JobEvent& e) {
    if (e.kind == JobEvent::Kind::agreement) return add_contribution(e);
    send_(e);
    if (e.kind == JobEvent::Kind::failed) fail(e.ranks);
}

void AgreementGather::fail(const RankRanges& ranks) {
    failed_.add(ranks);
    for (auto a = agreements_.begin(); a != agreements_.end();) {
        const auto next = std::next(a);
        a->second.missing.remove(ranks);
        send_if_complete(a);
        a = next;
    }
}

void AgreementGather::add_contribution(const JobEvent& e) {
    RankRanges contributors = e.ranks;
    contributors.remove(failed_);
    if (contributors.empty()) return; // too late: the others may have been sent
    auto [a, added] = agreements_.try_emplace({e.context, e.number});
    JobEvent& combined = a->second.combined;
    if (added) {
        combined = e;
        a->second.missing = ranks_below_().common_with(e.members);
        a->second.missing.remove(failed_);
    } else {
        combined.ranks.add(e.ranks);
        combined.flags &= e.flags;
        combined.value = std::max(combined.value, e.value);
    }
    a->second.missing.remove(e.ranks);
    send_if_complete(a);
}

void AgreementGather::send_if_complete(Iterator a) {
    if (!a->second.missing.empty()) return;
    const JobEvent combined = std::move(a->second.combined);
    agreements_.erase(a);
    send_(combined);
}

void AgreementGather::remove(uint32_t context, uint32_t number) { agreements_.erase({context, number}); }

} // namespace zipmpi::launch
