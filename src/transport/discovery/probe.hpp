// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// DeviceProbe over TCP: listens on every usable address and connects to all addresses of the next node.
#pragma once

#include "transport/auth/handshake.hpp"
#include "transport/discovery/device_probe.hpp"

#include <poll.h>
#include <string>
#include <vector>

namespace zipmpi::transport::discovery {

struct Interface {
    std::string name;
    std::string address; // numeric
};

class TcpDeviceProbe final : public DeviceProbe {
  public:
    TcpDeviceProbe(int own_rank, const auth::HandshakeKeys& keys);
    ~TcpDeviceProbe() override;
    TcpDeviceProbe(const TcpDeviceProbe&) = delete;
    TcpDeviceProbe& operator=(const TcpDeviceProbe&) = delete;

    std::string listen() override;
    bool run(const ProbeRequest& search) override;
    [[nodiscard]] const std::string& devices() const override { return devices_; }
    [[nodiscard]] const std::string& log() const override { return log_; }

  private:
    struct Listener {
        int fd;
        Interface interface;
    };
    struct ProbeConnection {
        int fd;
        bool is_initiator; // this side connected
        bool request_sent;
        std::string target;
        std::string in;
        uint64_t deadline_ns;
    };
    void begin_connecting(const std::string& addresses);
    void connect_to_current(const ProbeRequest& search);
    void accept_from(const Listener& listener);
    bool serve(ProbeConnection& connection, int next); // false: finished
    void serve_all(const std::vector<pollfd>& fds, const std::string& question, int next);
    bool on_reply(ProbeConnection& connection, int next);
    bool on_request(ProbeConnection& connection);
    void add_device_of(int fd, const std::string& how);
    bool add_device(const std::string& device); // false: already in the list
    void add_rdma_on(const std::string& interface);
    void append_log(const std::string& what);
    void report_found();

    int own_rank_;
    auth::HandshakeKeys keys_;
    uint8_t nonce_[wire::nonce_bytes] = {};
    std::vector<Listener> listeners_;
    std::vector<ProbeConnection> connections_;
    std::string devices_;
    std::string log_;
    std::string tried_;    // addresses
    std::string reported_; // devices
    const ProbeRequest* request_ = nullptr;
    bool reached_ = false;
    std::vector<int> incoming_; // ranks still awaited
    std::vector<int> replied_;  // ranks that were replied to
};

} // namespace zipmpi::transport::discovery
