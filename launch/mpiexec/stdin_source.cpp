// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/stdin_source.hpp"

#include "os/clock.hpp"

#include <cerrno>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t retry_interval = 500'000'000; // ns

} // namespace

void StdinSource::begin() {
    const OutputPolicy& policy = request_.output;
    open_ = request_.stdin_open && policy.stdin_for != OutputPolicy::Stdin::none;
    if (!open_) return;
    if (policy.stdin_for == OutputPolicy::Stdin::one)
        return window_.add_node(request_.map.node_of(policy.stdin_rank));
    for (const uint32_t node : request_.map.nodes()) window_.add_node(node);
}

bool StdinSource::wants_input() const {
    return open_ && window_.has_readers() && window_.available() > 0 && retry_at_ == 0;
}

void StdinSource::on_consumed(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t node = r.u32();
    window_.on_consumed(node, r.u64());
}

void StdinSource::send(ControlFrameType type, std::string_view bytes) {
    if (request_.output.stdin_for == OutputPolicy::Stdin::all) return subtree_.send_all(type, bytes);
    subtree_.send_to_node(request_.map.node_of(request_.output.stdin_rank), type, bytes);
}

void StdinSource::on_readable() {
    if (isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        retry_at_ = os::now_ns() + retry_interval; // background process: the terminal is not available
        return;
    }
    static char buffer[StdinWindow::max_in_flight];
    const ssize_t n = read(STDIN_FILENO, buffer, window_.available());
    if (n > 0) {
        window_.on_sent(static_cast<size_t>(n));
        send(ControlFrameType::stdin_data, {buffer, static_cast<size_t>(n)});
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        open_ = false;
        send(ControlFrameType::stdin_end, {});
    }
}

void StdinSource::on_time(uint64_t now) {
    if (retry_at_ != 0 && now >= retry_at_) retry_at_ = 0;
}

} // namespace zipmpi::launch
