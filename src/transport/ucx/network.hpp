// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The border between the library and the module zipmpi_ucx.so. UCX opens devices and takes milliseconds and
// megabytes: only a process whose job spans several hosts loads it. Calls never block; one thread at a time
// is inside (the lane's lock). Events come up through a Sink during progress() and during calls that send.
#pragma once

#include "transport/concept.hpp"
#include "wire/net_layout.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <sys/uio.h>

namespace zipmpi::transport::ucx {

// A long message that is still at its sender; it must be received or dropped.
struct Arriving;

// Bytes of the user: in a row, or at hand through functions that know their layout.
struct Memory {
    std::byte* at = nullptr; // null: through the functions of the sink
    uint64_t bytes = 0;
    void* operation = nullptr; // whose bytes these are
};

enum class Outcome { done, failed };
enum class Posted {
    done,        // the memory may be used again
    under_way,   // sent() comes
    would_block, // nothing has happened: the peer has not answered the hello yet
    failed       // the peer cannot be reached (any more)
};

// A frame of the bridge from a gateway, or from a rank to one. All memory is valid during the call, and that
// of the data until let_go(descriptor) if there is a descriptor and frame() has kept it.
struct FrameArrival {
    Peer from;
    int id; // of the sender: a world rank, or beyond
    std::span<const std::byte> head;
    std::span<const std::byte> data;
    void* descriptor;
};

// What happens, told to the protocols. `from` is an index that reach() gives.
struct Sink {
    void* subject;
    void (*arrived)(void* subject, const Arrival& message);
    void (*announced)(void* subject, const Arrival& message, Arriving& bytes, uint64_t length);
    void (*sent)(void* subject, void* operation, Outcome outcome);
    void (*received)(void* subject, void* operation, Outcome outcome);
    void (*lost)(void* subject, Peer peer, const char* why); // nothing comes from it any more
    // Packed bytes of an operation whose memory has gaps.
    void (*load)(void* operation, uint64_t offset, std::byte* to, size_t bytes);
    void (*store)(void* operation, uint64_t offset, const std::byte* from, size_t bytes);
    // Where they are: fills the list and returns how many there are; 0: more than `most`, or very short ones.
    size_t (*pieces)(void* operation, iovec* list, size_t most);
    // Of the bridge; null where there is none.
    bool (*frame)(void* subject, const FrameArrival& frame) = nullptr; // true: the data was kept
    void (*frame_left)(void* subject, void* ticket) = nullptr; // send_frame() has finished with the data
    void (*met)(void* subject, Peer peer, int id) = nullptr;   // it can be sent to, perhaps once more
};

// Address of a rank, as it has published it; empty: it cannot be found out.
struct AddressBook {
    void* subject;
    std::string (*find)(void* subject, int world_rank);
};

struct Settings {
    int world_rank = 0;
    std::span<const uint8_t, wire::job_key_bytes> key;
    const char* devices = "";   // comma-separated names; empty: UCX chooses
    bool watch_peers = false;   // be told by UCX when a peer is lost, which costs bandwidth
    int watch_from = INT32_MAX; // the same for ids from here on: gateways, which may die and return
    bool gathers = false;       // all frames that may wait do, not only those after the first few
    Sink sink{};
    AddressBook book{};
};

class Network {
  public:
    virtual ~Network() = default;
    [[nodiscard]] virtual const std::string& address() const = 0; // bytes, to be published
    // The index of a rank, dense from 0; the first call says hello to it. -1: its address is not known.
    virtual int reach(int world_rank) = 0;
    [[nodiscard]] virtual int rank_of(Peer) const { return -1; } // -1: it cannot be told
    // The rank is gone for good: what is under way to and from it ends as failed.
    virtual void give_up(int /*world_rank*/) {}
    // A message with up to inline_max bytes of payload in the header.
    virtual Posted send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                        const Memory& data) = 0;
    // The same for a send whose caller comes back to make progress before it can know that it is done: may
    // wait until then, to share a message of the network with others.
    virtual Posted send_soon(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                             const Memory& data) {
        return send(peer, envelope, payload, data);
    }
    // The same, but the data stays here until the receiver asks for it.
    virtual Posted send_long(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                             const Memory& data) = 0;
    // received() comes, perhaps before this returns. to.bytes is what the sender announced.
    virtual void receive(Arriving& bytes, const Memory& to) = 0;
    virtual void drop(Arriving& bytes) = 0;
    // Bytes from which a long message to a peer is better sent by send_long, where devices read the memory of
    // others by themselves. 0: they do not, or it is not known.
    [[nodiscard]] virtual uint64_t rendezvous_from(Peer) const { return 0; }
    // The longest message that send() takes.
    [[nodiscard]] virtual uint64_t longest_at_once(Peer) const { return UINT64_MAX; }
    virtual int progress() = 0;
    // Becomes readable when there is something to do, once arm() has returned true.
    [[nodiscard]] virtual int descriptor() const = 0;
    virtual bool arm() = 0;
    [[nodiscard]] virtual bool idle() const = 0; // nothing of this rank waits to be sent
    virtual void leaving(bool /*yes*/) {}        // from now on idle() must hold without this process
    [[nodiscard]] virtual bool meets() const { return false; } // somebody has not answered its hello yet
    [[nodiscard]] virtual uint64_t strangers() const = 0;      // messages without a valid pass or proof

    // A frame of the bridge. The head is copied; under way: frame_left(ticket) comes. may_wait: the caller
    // calls send_waiting() or progress() soon, so that short frames may share a message of the network.
    virtual Posted send_frame(Peer, std::span<const std::byte> /*head*/, std::span<const std::byte> /*data*/,
                              void* /*ticket*/, bool /*may_wait*/ = false) {
        return Posted::failed;
    }
    virtual void send_waiting() {}
    [[nodiscard]] virtual bool has_waiting() const { return false; }
    virtual void let_go(void* /*descriptor*/) {}
    // Gives up what is under way to a peer; the next reach() says hello to where it is then. Not from within
    // an event.
    virtual void forget(Peer) {}
};

// Which network devices lead to the other hosts of a job. Docker bridges, virtual machines and private ranges
// that several sites use make addresses that look right and lead nowhere, or to somebody else: so all are
// tried at once, and one counts only when the other side has proven that it has the key of the job. One rank
// of each node does it, with those of the next and the previous node.
class Probe {
  public:
    // With whom, and how long. The functions may be null.
    struct Search {
        int next;
        std::string addresses; // of the node of rank `next`
        std::span<const int> askers;
        int limit_ms;
        void* subject = nullptr;
        // One that may be killed and started again: where it listens now.
        std::string (*addresses_now)(void* subject) = nullptr;
        // Devices that work, so far. The one who has asked knows of it afterwards.
        void (*found)(void* subject, const std::string& devices) = nullptr;
        bool (*is_over)(void* subject) = nullptr; // nobody else searches any more
    };
    virtual ~Probe() = default;
    // Listens on every address of this host that others might reach; gives text to be published. Empty: there
    // is none.
    virtual std::string listen() = 0;
    // Tries all addresses of the node of rank `next`, and answers those of the ranks `askers`, until all are
    // known or the time is over.
    virtual bool run(const Search& search) = 0;
    [[nodiscard]] virtual const std::string& devices() const = 0; // that work, separated by commas
    [[nodiscard]] virtual const std::string& story() const = 0;   // what happened
};

// The functions of the module; their names change when this border changes. Null and `why` on failure.
using Open = Network* (*)(const Settings& settings, std::string& why);
using OpenProbe = Probe* (*)(int world_rank, std::span<const uint8_t, wire::job_key_bytes> key);
inline constexpr const char* open_symbol = "zipmpi_ucx_open_3";
inline constexpr const char* open_probe_symbol = "zipmpi_ucx_open_probe_3";
inline constexpr const char* module_file = "zipmpi_ucx.so";

// Load the module and use it. Null: why says so in words.
Network* open(const Settings& settings, std::string& why);
Probe* open_probe(int world_rank, std::span<const uint8_t, wire::job_key_bytes> key, std::string& why);

} // namespace zipmpi::transport::ucx
