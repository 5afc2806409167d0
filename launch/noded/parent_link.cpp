// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/parent_link.hpp"

#include "base/diagnostic.hpp"
#include "boot/timeouts.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/tree/subtree.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"

#include <sys/epoll.h>

namespace zipmpi::launch {

ParentLink::ParentLink(EventLoop& loop, ParentConnection connection, OnFrame on_frame)
    : loop_(loop)
    , transport_(connection.records != nullptr ? Transport::tcp : Transport::socket_pair)
    , socket_(std::move(connection.socket), std::move(connection.records))
    , on_frame_(std::move(on_frame))
    , source_(loop.add_source([this](uint32_t, uint32_t events) { serve(events); })) {
    if (transport_ == Transport::tcp) last_received_ = heartbeat_at_ = os::now_ns();
    loop_.watch(socket_.fd(), EPOLLIN, source_);
}

void ParentLink::serve(uint32_t events) {
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const bool alive = socket_.receive();
    if (socket_.has_progressed()) last_received_ = os::now_ns();
    ControlFrame f;
    while (socket_.next(f)) {
        suspended_ = false;
        on_frame_(f);
    }
    if (alive) return;
    if (socket_.was_altered()) report_alteration();
    disconnected_ = true;
    loop_.unwatch(socket_.fd());
}

// The other direction is still authentic. Then the connection ends, so that the parent does not wait.
void ParentLink::report_alteration() {
    Failure failure;
    failure.by_signal = true;
    failure.text = format({"the connection to the node daemon is not secure; the job was terminated",
                           "host " + os::host_name(), altered_text, altered_fix},
                          "mpiexec");
    send(ControlFrameType::failure, encode(failure));
    socket_.close();
}

void ParentLink::send_diagnostic(std::string_view text) {
    PayloadWriter w;
    send(ControlFrameType::output, w.u32(2).u32(no_rank).take().append(text));
}

void ParentLink::report_line(const std::string& line) { send_diagnostic("mpiexec: " + line + "\n"); }

void ParentLink::flush() {
    if (!socket_.flush()) disconnected_ = true;
}

void ParentLink::update_events() {
    if (!disconnected_) loop_.watch(socket_.fd(), queued() > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN, source_);
}

void ParentLink::check_heartbeat() {
    const uint64_t now = os::now_ns();
    if (transport_ != Transport::tcp || now < heartbeat_at_) return;
    const bool late = now > heartbeat_at_ + heartbeat_interval_ns; // this process was stopped
    heartbeat_at_ = now + heartbeat_interval_ns;
    send(ControlFrameType::heartbeat);
    if (late || suspended_) last_received_ = now;
    if (now - last_received_ >= boot::heartbeat_timeout_ns()) disconnected_ = true;
}

} // namespace zipmpi::launch
