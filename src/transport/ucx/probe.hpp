// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The probe of network.hpp: sockets, listening on every usable address and connecting to all of the next
// node.
#pragma once

#include "transport/ucx/greeting.hpp"
#include "transport/ucx/network.hpp"

#include <poll.h>
#include <string>
#include <vector>

namespace zipmpi::transport::ucx {

struct Interface {
    std::string name;
    std::string address; // numeric
};

class SocketProbe final : public Probe {
  public:
    SocketProbe(int own_rank, Key key);
    ~SocketProbe() override;
    SocketProbe(const SocketProbe&) = delete;
    SocketProbe& operator=(const SocketProbe&) = delete;

    std::string listen() override;
    bool run(const Search& search) override;
    [[nodiscard]] const std::string& devices() const override { return devices_; }
    [[nodiscard]] const std::string& story() const override { return story_; }

  private:
    struct Listener {
        int fd;
        Interface interface;
    };
    struct Talk {
        int fd;
        bool ours; // we have connected
        bool asked;
        std::string target;
        std::string in;
        uint64_t deadline_ns;
    };
    void begin_connecting(const std::string& addresses);
    void connect_where_it_is_now(const Search& search);
    void accept_from(const Listener& listener);
    bool serve(Talk& talk, int next); // false: it is over
    void serve_all(const std::vector<pollfd>& fds, const std::string& question, int next);
    bool take_answer(Talk& talk, int next);
    bool take_question(Talk& talk);
    void use_device_of(int fd, const std::string& how);
    bool use(const std::string& device); // false: it is in use
    void use_rdma_on(const std::string& interface);
    void tell(const std::string& what);
    void tell_found();

    int own_rank_;
    Key key_;
    uint8_t nonce_[wire::nonce_bytes] = {};
    std::vector<Listener> listeners_;
    std::vector<Talk> talks_;
    std::string devices_;
    std::string story_;
    std::string tried_; // addresses
    std::string told_;  // devices
    const Search* search_ = nullptr;
    bool reached_ = false;
    std::vector<int> askers_;   // to come
    std::vector<int> answered_; // that came
};

} // namespace zipmpi::transport::ucx
