// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface between the protocols and a network engine, and the events that the engine reports. Calls never
// block; one thread at a time calls (the progress engine's lock). Events are delivered to the NetworkListener
// during progress() and during sends. Implementations: ucx/, ofi/, tcp_engine/, interjob/, bridge/.
#pragma once

#include "transport/auth/key.hpp"
#include "transport/network_operation.hpp"
#include "transport/transport.hpp"
#include "wire/net_layout.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <sys/uio.h>

namespace zipmpi::transport {

// A rendezvous message whose data is still at the sender; it must be fetched or dropped. Engines derive their
// own types from it.
struct IncomingBulk {};

// User data: contiguous, or accessed through the listener, which has the layout.
struct BufferRef {
    std::byte* at = nullptr; // null: use pack(), unpack() and list_iov() of the listener
    uint64_t bytes = 0;
    NetworkOperation* operation = nullptr; // operation that owns the bytes
};

enum class OpStatus { done, failed };
enum class PostStatus {
    done,        // the memory may be reused
    in_flight,   // send_finished() follows
    would_block, // nothing was sent: the handshake is not complete
    failed       // the peer is not, or no longer, reachable
};

// What an engine reports to the protocols. Peers are indices returned by connect_to().
class NetworkListener {
  public:
    virtual void message_arrived(const Arrival& message) = 0;
    virtual void rts_arrived(const Arrival& message, IncomingBulk& bytes, uint64_t length) = 0;
    virtual void send_finished(NetworkOperation* operation, OpStatus outcome) = 0;
    virtual void fetch_finished(NetworkOperation* operation, OpStatus outcome) = 0;
    virtual void peer_failed(Peer peer, const char* why) = 0; // nothing more arrives from it
    // As peer_failed(), of a peer that still runs: messages are missing.
    virtual void connection_lost(Peer peer, const char* why) { peer_failed(peer, why); }
    // Packed bytes of an operation on noncontiguous memory.
    virtual void pack(NetworkOperation* operation, uint64_t offset, std::byte* to, size_t bytes) = 0;
    virtual void unpack(NetworkOperation* operation, uint64_t offset, const std::byte* from,
                        size_t bytes) = 0;
    // Segments of that memory: fills the list and returns their number; 0: more than `most`, or segments too
    // short.
    virtual size_t list_iov(NetworkOperation* operation, iovec* list, size_t most) = 0;

  protected:
    ~NetworkListener() = default;
};

// Looks up the published address of a rank; empty: not available.
class AddressResolver {
  public:
    virtual std::string find(int world_rank) = 0;

  protected:
    ~AddressResolver() = default;
};

struct NetworkConfig {
    int world_rank = 0;
    auth::HandshakeKeys keys;
    const char* devices = "";      // comma-separated names; empty: UCX chooses
    bool detect_failures = false;  // let UCX detect peer failures; reduces bandwidth
    int detect_from = INT32_MAX;   // detect failures of ids from here on: gateways, which may exit and return
    bool batch_all_frames = false; // batch all frames that may be batched, not only those after the first few
    NetworkListener* listener = nullptr;
    AddressResolver* resolver = nullptr;
};

class Network {
  public:
    virtual ~Network() = default;
    [[nodiscard]] virtual const std::string& address() const = 0; // to be published
    // Index of a rank, dense from 0; the first call starts the handshake. -1: its address is not known.
    virtual int connect_to(int world_rank) = 0;
    [[nodiscard]] virtual int rank_of(Peer) const { return -1; } // -1: unknown
    // The rank has failed permanently: operations in flight to and from it complete with failure.
    virtual void fail_peer(int /*world_rank*/) {}
    // Sends a message with up to inline_max bytes of payload in the header.
    virtual PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) = 0;
    // send() for callers that make progress before they test for completion: may be deferred until then, to
    // share a network message with others.
    virtual PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                    const BufferRef& data) {
        return send(peer, envelope, payload, data);
    }
    // Sends the envelope; the data stays here until the receiver fetches it.
    virtual PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                       const BufferRef& data) = 0;
    // fetch_finished() follows, possibly before this returns. to.bytes is the length from rts_arrived().
    virtual void fetch(IncomingBulk& bytes, const BufferRef& to) = 0;
    virtual void drop(IncomingBulk& bytes) = 0;
    // Bytes from which send_rendezvous is faster because devices read remote memory themselves. 0: they do
    // not, or it is unknown.
    [[nodiscard]] virtual uint64_t rendezvous_threshold(Peer) const { return 0; }
    // Largest message that send() accepts.
    [[nodiscard]] virtual uint64_t max_eager(Peer) const { return UINT64_MAX; }
    virtual int progress() = 0;
    // Readable when progress() has work, once arm() has returned true.
    [[nodiscard]] virtual int descriptor() const = 0;
    virtual bool arm() = 0;
    // Whether bulk messages of this process pass through gateways now; waiting ranks then sleep sooner, since
    // the gateway may need their CPU.
    [[nodiscard]] virtual bool relays_bulk() const { return false; }
    [[nodiscard]] virtual bool idle() const = 0; // no send of this rank is pending
    // Before exit: idle() then also requires that nothing depends on this process (acknowledgments delivered,
    // byes exchanged).
    virtual void set_shutting_down(bool /*yes*/) {}
    // Before exit: from now on the end of a connection of this process is no failure. It can still be used.
    virtual void announce_end() {}
    // Whether a peer has not replied to this rank's hello yet.
    [[nodiscard]] virtual bool has_pending_handshakes() const { return false; }
    [[nodiscard]] virtual uint64_t rejected_messages() const = 0; // messages without a valid token or MAC
};

} // namespace zipmpi::transport
