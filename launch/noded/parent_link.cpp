// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/parent_link.hpp"

#include "boot/timeouts.hpp"
#include "launch/tree/subtree.hpp"
#include "os/clock.hpp"

#include <sys/epoll.h>

namespace zipmpi::launch {

ParentLink::ParentLink(EventLoop& loop, os::Fd socket, Transport transport, OnFrame on_frame)
    : loop_(loop)
    , socket_(std::move(socket))
    , transport_(transport)
    , on_frame_(std::move(on_frame))
    , source_(loop.add_source([this](uint32_t, uint32_t events) { serve(events); })) {
    if (transport_ == Transport::tcp) last_received_ = heartbeat_at_ = os::now_ns();
    loop_.watch(socket_.fd(), EPOLLIN, source_);
}

void ParentLink::serve(uint32_t events) {
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const bool alive = socket_.receive();
    if (transport_ == Transport::tcp) last_received_ = os::now_ns();
    ControlFrame f;
    while (socket_.next(f)) {
        suspended_ = false;
        on_frame_(f);
    }
    if (alive) return;
    disconnected_ = true;
    loop_.unwatch(socket_.fd());
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
