// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/match.hpp"

namespace zipmpi::proto {

void Matcher::post_keyed(Operation& recv) {
    recv.posted.order = ++keyed_posts_;
    recv.posted.keyed = true;
    ++posted_count_;
    count_wildcard(recv, 1);
    posted_.push_back(recv);
    expected_peers_.count_recv(recv.source, recv.world_peer, 1);
}

// Receives of the same key may be in both kinds of queues. With equal order the keyed one is older.
Operation* Matcher::take_oldest(const wire::Envelope& e) {
    const MatchKey patterns[] = {{e.context, e.source, e.tag},
                                 {e.context, e.source, any_tag},
                                 {e.context, any_source, e.tag},
                                 {e.context, any_source, any_tag}};
    Operation* first = exact_posted_.first(patterns[0]);
    for (int form = 0; form < 4; ++form) {
        if (form != 0 && posted_of_form_[form] == 0) continue;
        Operation* const candidate = posted_.first(patterns[form]);
        if (candidate != nullptr && (first == nullptr || candidate->posted.order <= first->posted.order))
            first = candidate;
    }
    if (first != nullptr) unpost(*first);
    return first;
}

} // namespace zipmpi::proto
