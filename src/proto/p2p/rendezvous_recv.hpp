// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RendezvousReceiver: long messages of this node. Uses a single copy from the sender's buffer if that is
// possible and pays (cooperative copy, shared arena, CMA), else requests fragments.
#pragma once

#include "proto/p2p/coop_copy.hpp"
#include "proto/p2p/staging_buffer.hpp"

namespace zipmpi::proto {

class RendezvousReceiver {
  public:
    RendezvousReceiver(NodeTransports& node, PathPolicy& paths, OperationTable& table, ControlSender& control,
                       const Matcher& matcher, Completion& completion)
        : node_(node)
        , paths_(paths)
        , completion_(completion)
        , replier_(control, matcher)
        , fragments_(table, replier_, completion)
        , coop_(node, paths, table, replier_, fragments_, completion)
        , staging_(node.shm.caps().bulk_max) {}
    RendezvousReceiver(const RendezvousReceiver&) = delete;
    RendezvousReceiver& operator=(const RendezvousReceiver&) = delete;

    void accept(Operation& recv, const IncomingMessage& message);
    [[nodiscard]] FragmentReceiver& fragments() { return fragments_; }
    [[nodiscard]] CoopCopier& coop() { return coop_; }

  private:
    [[nodiscard]] bool copy_from_arena(const Operation& recv, const IncomingMessage& message);
    [[nodiscard]] bool copy_by_cma(const Operation& recv, const IncomingMessage& message);
    [[nodiscard]] bool read_from_sender(const Operation& recv, const IncomingMessage& message);

    NodeTransports& node_;
    PathPolicy& paths_;
    Completion& completion_;
    RtsReplier replier_;
    FragmentReceiver fragments_;
    CoopCopier coop_;
    StagingBuffer staging_;
};

} // namespace zipmpi::proto
