// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// FragmentReceiver: long messages of this node that arrive in cells.
#pragma once

#include "proto/p2p/completion.hpp"
#include "proto/p2p/operation_table.hpp"
#include "proto/p2p/rts_replier.hpp"

namespace zipmpi::proto {

class FragmentReceiver {
  public:
    FragmentReceiver(OperationTable& table, RtsReplier& replier, Completion& completion)
        : table_(table)
        , replier_(replier)
        , completion_(completion) {}

    // Requests the bytes of a message that did not come with its rts.
    void request(Operation& recv, const IncomingMessage& message);
    // A fragment of this receive; invalid ones are dropped.
    void on_fragment(Operation& recv, const wire::Fragment& f, const transport::Arrival& a);

  private:
    OperationTable& table_;
    RtsReplier& replier_;
    Completion& completion_;
};

} // namespace zipmpi::proto
