// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A request to the daemons of all hosts, one at a time, and which of them have not replied yet. A reply
// starts with the number of the request and the node.
#pragma once

#include "launch/protocol/messages.hpp"
#include "launch/tree/subtree.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class HostRound {
  public:
    HostRound(const StartRequest& request, Subtree& subtree)
        : request_(request)
        , subtree_(subtree) {}

    // more: payload behind the number.
    void begin(ControlFrameType type, uint64_t deadline, std::string_view more = {}) {
        awaited_ = request_.map.nodes();
        std::erase_if(awaited_, [this](uint32_t node) { return subtree_.has_failed(node); });
        deadline_ = deadline;
        PayloadWriter w;
        subtree_.send_all(type, w.u32(++number_).take().append(more));
    }
    [[nodiscard]] bool is_pending() const { return deadline_ != 0; }
    // Reads the start of a reply. Returns the node; none: the reply is invalid, late, or the second one.
    std::optional<uint32_t> read_reply(PayloadReader& r) const {
        const uint32_t number = r.u32();
        const uint32_t node = r.u32();
        const bool expected = r.ok() && is_pending() && number == number_ &&
                              std::find(awaited_.begin(), awaited_.end(), node) != awaited_.end();
        return expected ? std::optional(node) : std::nullopt;
    }
    // Returns true if all hosts have replied.
    bool add_reply(uint32_t node) {
        std::erase(awaited_, node);
        return awaited_.empty();
    }
    [[nodiscard]] bool is_due(uint64_t now) const { return is_pending() && now >= deadline_; }
    [[nodiscard]] uint64_t next_time() const { return deadline_; }
    void end() { deadline_ = 0; }
    [[nodiscard]] const std::vector<uint32_t>& awaited() const { return awaited_; } // nodes without reply

  private:
    const StartRequest& request_;
    Subtree& subtree_;
    uint32_t number_ = 0; // of the newest request
    std::vector<uint32_t> awaited_;
    uint64_t deadline_ = 0; // 0 while no request waits for answers
};

} // namespace zipmpi::launch
