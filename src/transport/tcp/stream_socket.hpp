// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sockets and addresses of streams.
#pragma once

#include "os/fd.hpp"
#include "wire/stream_layout.hpp"

#include <netinet/in.h>
#include <string>

namespace zipmpi::transport::tcp {

os::Fd new_socket(); // nonblocking
sockaddr_in address_of(const wire::StreamOffer& offer);
// Listens at the address of a single TCP interface and completes the offer. Returns an empty descriptor for
// other devices: several interfaces, or RDMA, are left to UCX, which uses all of them.
os::Fd listen_on(const std::string& device, wire::StreamOffer& offer);
void disable_nagle(int fd);

} // namespace zipmpi::transport::tcp
