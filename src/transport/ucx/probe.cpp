// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/probe.hpp"

#include "os/clock.hpp"
#include "transport/ucx/network.hpp"
#include "transport/ucx/rdma.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/rand.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace zipmpi::transport::ucx {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t stranger_limit = 2000 * ms; // from connecting to the proof
constexpr size_t most_talks = 64;
constexpr uint64_t grace = 10 * ms;
constexpr uint64_t between_looks = 100 * ms; // at those who may be started again

sockaddr_in socket_address(const std::string& address, int port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &a.sin_addr);
    return a;
}

std::string text_of(const sockaddr_in& a) {
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &a.sin_addr, text, sizeof text);
    return text;
}

// Those that are up. The loopback leads to no other host, but to other nodes that are emulated on this one.
std::vector<Interface> usable_interfaces() {
    std::vector<Interface> found;
    std::vector<Interface> loopback;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return found;
    for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
        if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_UP) == 0)
            continue;
        sockaddr_in a{};
        std::memcpy(&a, i->ifa_addr, sizeof a);
        ((i->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : found).push_back({i->ifa_name, text_of(a)});
    }
    freeifaddrs(all);
    found.insert(found.end(), loopback.begin(), loopback.end());
    return found;
}

int new_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

} // namespace

SocketProbe::SocketProbe(int own_rank, Key key)
    : own_rank_(own_rank)
    , key_(key) {
    RAND_bytes(nonce_, sizeof nonce_);
}

SocketProbe::~SocketProbe() {
    for (const Listener& l : listeners_) close(l.fd);
    for (const Talk& t : talks_) close(t.fd);
}

std::string SocketProbe::listen() {
    std::string text;
    for (const Interface& i : usable_interfaces()) {
        const int fd = new_socket();
        sockaddr_in a = socket_address(i.address, 0);
        socklen_t length = sizeof a;
        if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 || ::listen(fd, 64) != 0 ||
            getsockname(fd, reinterpret_cast<sockaddr*>(&a), &length) != 0) {
            if (fd >= 0) close(fd);
            continue;
        }
        listeners_.push_back({fd, i});
        text += (text.empty() ? "" : "+") + i.address + "+" + std::to_string(ntohs(a.sin_port));
    }
    return text;
}

void SocketProbe::begin_connecting(const std::string& addresses) {
    tried_ = addresses;
    std::string words = addresses;
    std::replace(words.begin(), words.end(), '+', ' ');
    std::istringstream in(words);
    std::string address;
    int port = 0;
    while (talks_.size() < most_talks && in >> address >> port) {
        const int fd = new_socket();
        const sockaddr_in a = socket_address(address, port);
        if (fd < 0) continue;
        if (connect(fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 && errno != EINPROGRESS) {
            tell(address + ": " + std::strerror(errno));
            close(fd);
            continue;
        }
        // Without a limit of its own: a neighbour that gets no CPU answers late, and only once.
        talks_.push_back({fd, true, false, address, {}, UINT64_MAX});
    }
}

void SocketProbe::accept_from(const Listener& listener) {
    const int fd = accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (talks_.size() >= most_talks) {
        close(fd);
        return;
    }
    talks_.push_back({fd, false, true, listener.interface.address, {}, os::now_ns() + stranger_limit});
}

void SocketProbe::connect_where_it_is_now(const Search& search) {
    if (reached_ || search.addresses_now == nullptr) return;
    const std::string now = search.addresses_now(search.subject);
    if (!now.empty() && now != tried_) begin_connecting(now);
}

void SocketProbe::tell_found() {
    if (search_->found == nullptr || told_ == devices_) return;
    told_ = devices_;
    search_->found(search_->subject, devices_);
}

void SocketProbe::tell(const std::string& what) { story_ += (story_.empty() ? "" : "; ") + what; }

// The device that a connection goes through is that of its address at this end.
void SocketProbe::use_device_of(int fd, const std::string& how) {
    sockaddr_in a{};
    socklen_t length = sizeof a;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&a), &length) != 0) return;
    const std::string own = text_of(a);
    for (const Listener& l : listeners_) {
        if (l.interface.address != own) continue;
        tell(l.interface.name + " " + how);
        if (use(l.interface.name)) use_rdma_on(l.interface.name);
        return;
    }
}

bool SocketProbe::use(const std::string& device) {
    const std::string with_commas = "," + devices_ + ",";
    if (with_commas.find("," + device + ",") != std::string::npos) return false;
    devices_ += (devices_.empty() ? "" : ",") + device;
    return true;
}

// The interface stays in the list: a host without RDMA is reached through it.
void SocketProbe::use_rdma_on(const std::string& interface) {
    for (const RdmaPort& port : rdma_ports_of(interface)) {
        if (!port.trouble.empty())
            tell(port.name + " on it cannot be used: " + port.trouble);
        else if (use(port.name))
            tell(port.name + " does RDMA on it");
    }
}

bool SocketProbe::take_answer(Talk& talk, int next) {
    Opened answer;
    if (unseal(std::as_bytes(std::span(talk.in)), wire::net_probe_answer, own_rank_, key_, answer) &&
        answer.greeting.from == next && std::memcmp(answer.greeting.nonce, nonce_, sizeof nonce_) == 0) {
        reached_ = true;
        use_device_of(talk.fd, "reaches rank " + std::to_string(next) + " at " + talk.target);
    } else {
        tell(talk.target + ": somebody else answers");
    }
    return false;
}

bool SocketProbe::take_question(Talk& talk) {
    Opened question;
    if (!unseal(std::as_bytes(std::span(talk.in)), wire::net_probe, own_rank_, key_, question) ||
        (std::ranges::count(askers_, question.greeting.from) == 0 &&
         std::ranges::count(answered_, question.greeting.from) == 0))
        return false;
    const int asker = question.greeting.from;
    wire::Greeting g{};
    g.kind = wire::net_probe_answer;
    g.from = own_rank_;
    g.to = asker;
    std::memcpy(g.nonce, question.greeting.nonce, sizeof g.nonce);
    const std::string answer = seal(g, {}, key_);
    use_device_of(talk.fd, "is reached by rank " + std::to_string(asker));
    tell_found(); // first: the asker may be gone when we are asked what we have found
    if (send(talk.fd, answer.data(), answer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(answer.size())) {
        if (std::erase(askers_, asker) != 0) answered_.push_back(asker); // it may come by another device too
    }
    shutdown(talk.fd, SHUT_WR);
    return false;
}

// Something can be read, or a connection of ours has been made.
bool SocketProbe::serve(Talk& talk, int next) {
    if (talk.ours && talk.in.empty()) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(talk.fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error != 0) {
            tell(talk.target + ": " + std::strerror(error));
            return false;
        }
    }
    char bytes[sizeof(wire::Greeting)];
    const ssize_t n = recv(talk.fd, bytes, sizeof bytes - talk.in.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != ENOTCONN)) return false;
    if (n > 0) talk.in.append(bytes, static_cast<size_t>(n));
    if (talk.in.size() < sizeof(wire::Greeting)) return true;
    return talk.ours ? take_answer(talk, next) : take_question(talk);
}

void SocketProbe::serve_all(const std::vector<pollfd>& fds, const std::string& question, int next) {
    std::vector<Talk> kept;
    for (size_t i = 0; i < talks_.size(); ++i) {
        Talk& t = talks_[i];
        const short what = fds[listeners_.size() + i].revents;
        bool goes_on = os::now_ns() < t.deadline_ns;
        if (what != 0 && goes_on) goes_on = serve(t, next);
        if (goes_on && (what & POLLOUT) != 0 && !std::exchange(t.asked, true))
            goes_on = send(t.fd, question.data(), question.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(question.size());
        if (goes_on)
            kept.push_back(std::move(t));
        else
            close(t.fd);
    }
    talks_ = std::move(kept);
}

bool SocketProbe::run(const Search& search) {
    search_ = &search;
    askers_.assign(search.askers.begin(), search.askers.end());
    begin_connecting(search.addresses);
    wire::Greeting g{};
    g.kind = wire::net_probe;
    g.from = own_rank_;
    g.to = search.next;
    std::memcpy(g.nonce, nonce_, sizeof nonce_);
    const std::string question = seal(g, {}, key_);
    const bool looks = search.addresses_now != nullptr || search.is_over != nullptr;
    uint64_t end = os::now_ns() + static_cast<uint64_t>(search.limit_ms) * ms;
    uint64_t look_at = looks ? os::now_ns() + between_looks : end;
    bool all = false;
    for (uint64_t now = os::now_ns(); now < end; now = os::now_ns()) {
        std::vector<pollfd> fds;
        for (const Listener& l : listeners_) fds.push_back({l.fd, POLLIN, 0});
        for (const Talk& t : talks_) fds.push_back({t.fd, static_cast<short>(t.asked ? POLLIN : POLLOUT), 0});
        poll(fds.data(), fds.size(),
             static_cast<int>((std::max(std::min(end, look_at), now) - now) / ms) + 1);
        serve_all(fds, question, search.next);
        for (size_t i = 0; i < listeners_.size(); ++i)
            if (fds[i].revents != 0) accept_from(listeners_[i]);
        if (reached_ && askers_.empty() && !std::exchange(all, true))
            end = std::min(end, os::now_ns() + grace); // for further devices
        if (!looks || os::now_ns() < look_at) continue;
        look_at = os::now_ns() + between_looks;
        if (search.is_over != nullptr && search.is_over(search.subject)) break;
        connect_where_it_is_now(search);
    }
    return reached_ && askers_.empty();
}

} // namespace zipmpi::transport::ucx

extern "C" [[gnu::visibility("default")]] zipmpi::transport::ucx::Probe*
zipmpi_ucx_open_probe_3(int world_rank, zipmpi::transport::ucx::Key key) {
    return new zipmpi::transport::ucx::SocketProbe(world_rank, key);
}
