// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/fragment_receiver.hpp"

#include "proto/p2p/payload.hpp"

#include <algorithm>

namespace zipmpi::proto {

void FragmentReceiver::request(Operation& recv, const IncomingMessage& message) {
    recv.expected = recv.received;
    recv.transferred = message.has_layout ? 0 : std::min(message.data_bytes, recv.expected);
    const bool all = recv.transferred == recv.expected;
    const wire::Cts cts{message.sender, all ? 0 : table_.add(recv), recv.expected};
    // Before unpacking: the sender can continue meanwhile.
    replier_.reply(message, wire::MessageKind::cts, &cts, sizeof cts);
    store_payload(recv, 0, message.data, recv.transferred);
    if (all) completion_.finish(recv);
}

void FragmentReceiver::on_fragment(Operation& recv, const wire::Fragment& f, const transport::Arrival& a) {
    if (f.offset > recv.expected || a.bulk_bytes > recv.expected - f.offset ||
        a.bulk_bytes > recv.expected - recv.transferred)
        return;
    store_payload(recv, f.offset, a.bulk, a.bulk_bytes);
    recv.transferred += a.bulk_bytes;
    if (recv.transferred != recv.expected) return;
    table_.remove(recv);
    completion_.finish(recv);
}

} // namespace zipmpi::proto
