// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/ofi_network.hpp"

#include <cstring>
#include <memory>

namespace zipmpi::transport::ofi {
namespace {

// While frames arrive by streams, libfabric is polled at intervals.
constexpr uint32_t endpoint_poll_interval = 16;
constexpr uint32_t messages_sent_at_once = 3; // to one peer between two progress calls

int detect_from(const NetworkConfig& settings) { return settings.detect_failures ? 0 : settings.detect_from; }

OutgoingRecord message_record(const wire::Envelope& envelope, const std::byte* payload,
                              const BufferRef& data) {
    return {wire::OfiRecordKind::message, envelope, {payload, envelope.inline_bytes}, data};
}

} // namespace

void Dispatcher::message_arrived(std::span<const std::byte> bytes) {
    wire::OfiHead head{};
    ++counters_.events;
    if (bytes.size() < sizeof head) {
        ++counters_.rejected_messages;
        return;
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    if (head.token == wire::ofi_handshake) {
        connector_.handshake_arrived(bytes);
        return;
    }
    PeerState* const from = peers_.authenticate(head.token);
    if (from == nullptr || from->failed) return;
    using Turn = decltype(from->order)::Turn;
    const Turn turn = from->order.arrived(head.number);
    if (turn == Turn::now) [[likely]] {
        records_arrived(*from, bytes);
        while (const auto held = from->order.take_next()) records_arrived(*from, *held);
    } else if (turn == Turn::later) {
        from->order.hold(head.number, {bytes.begin(), bytes.end()});
    } else {
        ++counters_.rejected_messages;
    }
}

void Dispatcher::records_arrived(PeerState& from, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        Record record;
        if (next_record(bytes, record) && record_arrived(from, record)) continue;
        ++counters_.rejected_messages;
        return;
    }
}

bool Dispatcher::record_arrived(PeerState& from, const Record& record) {
    switch (record.head.kind) {
    case wire::OfiRecordKind::message:
        listener_.message_arrived({from.index, record.head.envelope, record.payload.data(),
                                   record.data.empty() ? nullptr : record.data.data(), record.data.size()});
        return true;
    case wire::OfiRecordKind::rts:
    case wire::OfiRecordKind::pull:
    case wire::OfiRecordKind::refuse:
        return bulk_.record_arrived(from, record);
    case wire::OfiRecordKind::frame:
    case wire::OfiRecordKind::offer:
        return frames_.record_arrived(from, record);
    case wire::OfiRecordKind::leaving:
        connector_.peer_left(from);
        return true;
    }
    return false;
}

void Dispatcher::peer_reset(PeerState& peer) {
    frames_.streams().reset(peer.index);
    requests_.abandon(peer);
    bulk_.abandon(peer);
    peer.order = {};
}

OfiNetwork::OfiNetwork(const NetworkConfig& settings, const FrameConfig& frames)
    : peers_(*settings.listener, counters_, detect_from(settings))
    , requests_(endpoint_, peers_, *settings.listener, frames.listener, counters_)
    , records_(endpoint_, peers_, requests_, *settings.listener, counters_)
    , bulk_(endpoint_, peers_, requests_, records_, *settings.listener, counters_)
    , frames_(settings, frames, peers_, records_, counters_)
    , connector_({settings.world_rank, settings.keys, settings.resolver}, endpoint_, peers_, requests_,
                 dispatcher_, *settings.listener, counters_)
    , dispatcher_(peers_, connector_, requests_, bulk_, frames_, *settings.listener, counters_)
    , buffers_(endpoint_, dispatcher_) {}

bool OfiNetwork::start(const char* devices, const char* provider, std::string& why) {
    if (!endpoint_.open(devices, provider, why)) return false;
    tcp::StreamManager& streams = frames_.streams();
    if (buffers_.post_all() && (!streams.is_enabled() || streams.open(endpoint_.descriptor(), devices)))
        return true;
    why = "libfabric does not accept receive buffers, or descriptors are missing";
    return false;
}

// Libfabric no longer uses memory of the components when they are destroyed.
OfiNetwork::~OfiNetwork() {
    frames_.streams().close_all();
    endpoint_.close();
}

PostStatus OfiNetwork::send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) {
    PeerState& to = peers_[peer];
    const PostStatus ready = to.readiness();
    return ready == PostStatus::done ? records_.send(to, message_record(envelope, payload, data)) : ready;
}

PostStatus OfiNetwork::send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                    const BufferRef& data) {
    PeerState& to = peers_[peer];
    const bool batched = to.readiness() == PostStatus::done &&
                         records_.batch(to, message_record(envelope, payload, data), messages_sent_at_once);
    if (!batched) return send(peer, envelope, payload, data);
    return data.operation != nullptr ? PostStatus::in_flight : PostStatus::done;
}

PostStatus OfiNetwork::send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                                       const BufferRef& data) {
    PeerState& to = peers_[peer];
    const PostStatus ready = to.readiness();
    return ready == PostStatus::done ? bulk_.announce(to, envelope, {payload, envelope.inline_bytes}, data)
                                     : ready;
}

int OfiNetwork::progress() {
    tcp::StreamManager& streams = frames_.streams();
    counters_.events = 0;
    ++counters_.poll_id;
    flush_batches();
    if (streams.is_open() && !streams.poll() && counters_.poll_id % endpoint_poll_interval != 0)
        return counters_.events;
    const int before = counters_.events;
    endpoint_.poll();
    connector_.check_peers();
    if (buffers_.has_queued()) buffers_.retry();
    if (bulk_.has_queued()) bulk_.retry();
    if (requests_.has_queued()) requests_.retry();
    if (counters_.events != before) streams.set_engine_active();
    return counters_.events;
}

bool OfiNetwork::arm() {
    frames_.streams().watch_writable();
    frames_.streams().set_engine_active(); // the next progress() polls everything
    const bool queued = buffers_.has_queued() || bulk_.has_queued() || requests_.has_queued();
    const bool watches = peers_.any_lost() || (peers_.any_may_have_ended() && !requests_.idle());
    return endpoint_.arm(queued || watches ? Endpoint::Attention::soon : Endpoint::Attention::on_event);
}

// To peers that may still send to this process; the end of a gateway or of its rank is noticed as such.
void OfiNetwork::announce_end() {
    peers_.set_ending();
    for (PeerState& peer : peers_)
        if (peer.readiness() == PostStatus::done && !peer.left && !peers_.detects_failure_of(peer))
            static_cast<void>(records_.send(peer, {wire::OfiRecordKind::leaving, {}, {}}));
}

void OfiNetwork::flush_batches() {
    frames_.streams().flush();
    records_.flush();
}

void OfiNetwork::release_frame(void* descriptor) {
    if (tcp::FrameBuffer* const buffer = tcp::frame_buffer_of(descriptor); buffer != nullptr)
        frames_.streams().release(*buffer);
}

} // namespace zipmpi::transport::ofi

extern "C" [[gnu::visibility("default")]] zipmpi::transport::FrameNetwork*
zipmpi_ofi_open_for_frames_1(const zipmpi::transport::NetworkConfig& settings,
                             const zipmpi::transport::FrameConfig& frames, const char* provider,
                             std::string& why) {
    using namespace zipmpi::transport::ofi;
    auto network = std::make_unique<OfiNetwork>(settings, frames);
    if (!network->start(settings.devices, provider, why)) return nullptr;
    return network.release();
}

extern "C" [[gnu::visibility("default")]] bool zipmpi_ofi_drives_1(const char* devices,
                                                                   const char* provider) {
    std::string why;
    return zipmpi::transport::ofi::Endpoint().find_provider(devices, provider, why);
}
