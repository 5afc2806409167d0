// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dpm/port.hpp"

#include "base/hex.hpp"
#include "core/api/process.hpp"
#include "core/runtime_state.hpp"
#include "os/clock.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/stream/process_handshake.hpp"
#include "transport/stream/sockets.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>

namespace zipmpi::core {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t handshake_timeout_ns = 2 * second_ns;
constexpr uint64_t connect_timeout_ns = 5 * second_ns;
constexpr uint64_t exchange_timeout_ns = 60 * second_ns;
constexpr uint32_t max_contacts = 1U << 20;
constexpr int poll_ms = 2;
constexpr std::string_view prefix = "zipmpi:";

uint64_t deadline_after(uint64_t ns) { return os::now_ns() + ns; }

// Polls while MPI progress continues. Returns false on timeout.
bool poll_until(pollfd* fds, size_t n, uint64_t until) {
    for (;;) {
        progress_engine().progress_all();
        progress_engine().faults().poll();
        progress_engine().engine_lock().unlock_for_wait();
        const int ready = poll(fds, n, poll_ms);
        progress_engine().engine_lock().relock();
        if (ready > 0) return true;
        if (os::now_ns() >= until) return false;
    }
}

bool poll_until(int fd, short events, uint64_t until) {
    pollfd p{fd, events, 0};
    return poll_until(&p, 1, until);
}

bool write_all(int fd, const void* bytes, size_t n, uint64_t until) {
    const auto* at = static_cast<const char*>(bytes);
    while (n > 0) {
        const ssize_t some = ::send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (some < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (some < 0 && !poll_until(fd, POLLOUT, until)) return false;
        if (some < 0) continue;
        at += some;
        n -= static_cast<size_t>(some);
    }
    return true;
}

bool read_all(int fd, void* bytes, size_t n, uint64_t until) {
    auto* at = static_cast<char*>(bytes);
    while (n > 0) {
        const ssize_t some = ::recv(fd, at, n, MSG_DONTWAIT);
        if (some == 0 || (some < 0 && errno != EAGAIN && errno != EINTR)) return false;
        if (some < 0 && !poll_until(fd, POLLIN, until)) return false;
        if (some < 0) continue;
        at += some;
        n -= static_cast<size_t>(some);
    }
    return true;
}

struct PortHeader {
    uint32_t contact_count;
    uint32_t context; // 0: the other side allocates it
};

bool send_contacts(int fd, const Contacts& own_contacts, uint32_t context) {
    const PortHeader o{static_cast<uint32_t>(own_contacts.size()), context};
    return write_all(fd, &o, sizeof o, deadline_after(exchange_timeout_ns)) &&
           write_all(fd, own_contacts.data(), own_contacts.size() * sizeof own_contacts[0],
                     deadline_after(exchange_timeout_ns));
}

// Receives the group of the other root, and the context unless this side allocates it.
bool recv_contacts(int fd, const Contacts& own_contacts, ConnectInfo& connect_info, uint64_t until) {
    PortHeader o{};
    if (!read_all(fd, &o, sizeof o, until) || o.contact_count == 0 || o.contact_count > max_contacts)
        return false;
    connect_info.remote_contacts.resize(o.contact_count);
    if (o.context != 0) connect_info.context = o.context;
    return read_all(fd, connect_info.remote_contacts.data(),
                    o.contact_count * sizeof connect_info.remote_contacts[0],
                    deadline_after(exchange_timeout_ns)) &&
           is_valid_remote_group(own_contacts, connect_info.remote_contacts);
}

// Continues after the hello of a process that has the secret.
bool reply_hello(int fd, const transport::stream::Hello& hello, const std::string& secret,
                 const Contacts& own_contacts, ConnectInfo& connect_info) {
    transport::stream::Confirm confirm{};
    const transport::stream::HelloReply reply = transport::stream::make_hello_reply(hello, secret);
    if (!write_all(fd, &reply, sizeof reply, deadline_after(handshake_timeout_ns)) ||
        !read_all(fd, &confirm, sizeof confirm, deadline_after(exchange_timeout_ns)) ||
        !transport::stream::is_authentic(hello, reply, confirm, secret) ||
        !recv_contacts(fd, own_contacts, connect_info, deadline_after(exchange_timeout_ns)))
        return false;
    connect_info.key = transport::stream::connection_key(hello, reply, secret);
    connect_info.context =
        allocate_context(static_cast<int>(own_contacts.size() + connect_info.remote_contacts.size()));
    return send_contacts(fd, own_contacts, connect_info.context);
}

bool accept_handshake(int fd, const std::string& secret, const Contacts& own_contacts,
                      ConnectInfo& connect_info) {
    transport::stream::Hello hello{};
    return read_all(fd, &hello, sizeof hello, deadline_after(handshake_timeout_ns)) &&
           is_authentic_hello(hello, secret) && reply_hello(fd, hello, secret, own_contacts, connect_info);
}

Err never_abort() { return Err::success; }

// It may take long until the peer accepts. Returns false if waiting has become pointless.
bool await_reply(int fd, const AbortCheck& check_abort) {
    while (!poll_until(fd, POLLIN, deadline_after(0)))
        if (check_abort() != Err::success) return false;
    return true;
}

bool initiate_handshake(int fd, const std::string& secret, const Contacts& own_contacts,
                        const AbortCheck& check_abort, ConnectInfo& connect_info) {
    const transport::stream::Hello hello = transport::stream::make_hello(secret, own_contacts[0].name, {});
    transport::stream::HelloReply reply{};
    if (!write_all(fd, &hello, sizeof hello, deadline_after(connect_timeout_ns)) ||
        !await_reply(fd, check_abort) ||
        !read_all(fd, &reply, sizeof reply, deadline_after(exchange_timeout_ns)) ||
        !transport::stream::is_authentic(hello, reply, secret))
        return false;
    const transport::stream::Confirm confirm = transport::stream::make_confirm(hello, reply, secret);
    connect_info.key = transport::stream::connection_key(hello, reply, secret);
    return write_all(fd, &confirm, sizeof confirm, deadline_after(exchange_timeout_ns)) &&
           send_contacts(fd, own_contacts, 0) &&
           recv_contacts(fd, own_contacts, connect_info, deadline_after(exchange_timeout_ns)) &&
           is_valid_shared_context(connect_info.context);
}

Err not_a_port(const std::string& name) {
    return fail(Err::port, "pass the name that MPI_Open_port returned in the other program",
                "\"%.40s%s\" is not a valid port name", name.c_str(), name.size() > 40 ? "..." : "");
}

// What a peer needs to connect, without the rest of ContactInfo: the shortest limit of an ABI for port names
// is 255 characters.
struct PackedAddress {
    uint8_t address[4], port[2];
};
struct PackedContact {
    uint64_t host, socket;
    PackedAddress addresses[transport::stream::ContactInfo::max_addresses]; // as many as there are
};
constexpr size_t packed_bytes(size_t addresses) {
    return offsetof(PackedContact, addresses) + addresses * sizeof(PackedAddress);
}
constexpr size_t shortest_name_limit = 255;
static_assert(prefix.size() + 2 * packed_bytes(transport::stream::ContactInfo::max_addresses) + 1 +
                  2 * transport::stream::key_bytes <=
              shortest_name_limit);

std::string pack(const transport::stream::ContactInfo& contact) {
    PackedContact packed{contact.host, contact.socket, {}};
    for (uint32_t i = 0; i < contact.address_count; ++i) {
        const transport::stream::TcpAddress& from = contact.addresses[i];
        std::memcpy(packed.addresses[i].address, &from.address, sizeof from.address);
        std::memcpy(packed.addresses[i].port, &from.port, sizeof from.port);
    }
    return hex_of(&packed, packed_bytes(contact.address_count));
}

bool unpack(std::string_view hex, transport::stream::ContactInfo& contact) {
    std::string bytes;
    PackedContact packed{};
    if (!from_hex(hex, bytes) || bytes.size() < packed_bytes(0) || bytes.size() > sizeof packed) return false;
    const size_t addresses = (bytes.size() - packed_bytes(0)) / sizeof(PackedAddress);
    if (bytes.size() != packed_bytes(addresses)) return false;
    std::memcpy(&packed, bytes.data(), bytes.size());
    contact.host = packed.host;
    contact.socket = packed.socket;
    contact.address_count = static_cast<uint32_t>(addresses);
    for (size_t i = 0; i < addresses; ++i) {
        transport::stream::TcpAddress& to = contact.addresses[i];
        std::memcpy(&to.address, packed.addresses[i].address, sizeof to.address);
        std::memcpy(&to.port, packed.addresses[i].port, sizeof to.port);
    }
    return true;
}

bool parse_port_name(const std::string& name, transport::stream::ContactInfo& contact, std::string& secret) {
    const size_t colon = name.rfind(':');
    return name.starts_with(prefix) && colon > prefix.size() &&
           unpack(std::string_view(name).substr(prefix.size(), colon - prefix.size()), contact) &&
           from_hex(std::string_view(name).substr(colon + 1), secret) &&
           secret.size() == transport::stream::key_bytes;
}

// A connected socket, or an empty one.
os::Fd open_connection(const transport::stream::ContactInfo& contact, uint32_t address_index) {
    const uint64_t until = deadline_after(exchange_timeout_ns);
    os::Fd fd;
    while (!(fd = transport::stream::dial(contact, address_index)) && errno == EAGAIN &&
           os::now_ns() < until) // the listen
                                 // queue is full
        static_cast<void>(poll_until(nullptr, 0, deadline_after(0)));
    int error = 0;
    socklen_t length = sizeof error;
    if (fd && (!poll_until(fd.get(), POLLOUT, deadline_after(connect_timeout_ns)) ||
               getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0))
        fd.reset();
    return fd;
}

std::map<std::string, Port>& ports() {
    static auto* const all = new std::map<std::string, Port>; // protected by the progress engine lock
    return *all;
}

} // namespace

std::string Port::name() const {
    return std::string(prefix) + pack(contact) + ":" + hex_of(secret.data(), secret.size());
}

Err make_port(Port& port) {
    port.listeners = transport::stream::listen_on_all("", port.contact);
    port.secret = transport::stream::random_bytes(transport::stream::key_bytes);
    if (!port.listeners.empty()) return Err::success;
    return fail(Err::other, "raise the limit of open files (ulimit -n)",
                "cannot create a listening socket: %s", std::strerror(errno));
}

Err accept_on(Port& port, const Contacts& own_contacts, const AbortCheck& check_abort,
              ConnectInfo& connect_info) {
    for (;;) {
        std::vector<pollfd> fds;
        if (port.candidates.has_capacity())
            for (const os::Fd& listener : port.listeners) fds.push_back({listener.get(), POLLIN, 0});
        const size_t listeners = fds.size();
        port.candidates.add_to(fds);
        const bool ready = poll_until(fds.data(), fds.size(), deadline_after(0));
        if (const Err e = ready ? Err::success : check_abort(); e != Err::success) return e;
        for (size_t i = 0; i < listeners; ++i) {
            os::Fd fd = fds[i].revents != 0 ? transport::stream::accept_on(fds[i].fd) : os::Fd();
            if (fd) port.candidates.add(std::move(fd), deadline_after(handshake_timeout_ns));
        }
        port.candidates.read(port.secret, os::now_ns());
        transport::stream::Hello hello{};
        const os::Fd peer = port.candidates.take(hello);
        if (peer && reply_hello(peer.get(), hello, port.secret, own_contacts, connect_info))
            return Err::success;
    }
}

Err connect_to(const std::string& port_name, const Contacts& own_contacts, const AbortCheck& check_abort,
               ConnectInfo& connect_info) {
    transport::stream::ContactInfo contact;
    std::string secret;
    if (!parse_port_name(port_name, contact, secret)) return not_a_port(port_name);
    for (uint32_t address_index = 0; address_index < transport::stream::address_count(contact);
         ++address_index) {
        const os::Fd fd = open_connection(contact, address_index);
        if (fd && initiate_handshake(fd.get(), secret, own_contacts, check_abort, connect_info))
            return Err::success;
        if (const Err e = check_abort(); e != Err::success) return e;
    }
    return fail(Err::port,
                "check that the other program still runs and has not closed the port, and that its "
                "host can be reached by TCP from this host",
                "no process accepts connections at this port");
}

Err exchange_over_socket(int fd, bool is_initiator, const std::string& secret, const Contacts& own_contacts,
                         ConnectInfo& connect_info) {
    const bool done = is_initiator ? initiate_handshake(fd, secret, own_contacts, never_abort, connect_info)
                                   : accept_handshake(fd, secret, own_contacts, connect_info);
    return done ? Err::success
                : fail(Err::other, "pass a connected socket whose other end calls MPI_Comm_join too",
                       "the other end of the socket sent an invalid reply");
}

AbortCheck member_check(const Comm& comm) {
    return [context = comm.team.context] { return progress_engine().faults().comm_failure(context); };
}

Err open_port(Info* /*info*/, std::string& name) {
    Port port;
    if (const Err e = make_port(port); e != Err::success) return e;
    name = port.name();
    ports().emplace(name, std::move(port));
    return Err::success;
}

Err close_port(const char* name) { return ports().erase(name) != 0 ? Err::success : not_a_port(name); }

Err comm_accept(const char* port_name, Info* /*info*/, int root, Comm& comm, Comm*& result) {
    return connect_groups(
        comm, root,
        [port_name, &comm](const Contacts& own_contacts, ConnectInfo& connect_info) {
            const auto port = ports().find(port_name);
            if (port == ports().end()) return not_a_port(port_name);
            return accept_on(port->second, own_contacts, member_check(comm), connect_info);
        },
        result);
}

Err comm_connect(const char* port_name, Info* /*info*/, int root, Comm& comm, Comm*& result) {
    return connect_groups(
        comm, root,
        [port_name, &comm](const Contacts& own_contacts, ConnectInfo& connect_info) {
            return connect_to(port_name, own_contacts, member_check(comm), connect_info);
        },
        result);
}

} // namespace zipmpi::core
