// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ucx_network.hpp"

#include <algorithm>
#include <memory>

namespace zipmpi::transport::ucx {
namespace {

// Interval at which UCX gets progress while frames arrive by streams: it may have operations to complete.
constexpr uint32_t ucx_poll_interval = 64;

int detect_from(const NetworkConfig& settings) { return settings.detect_failures ? 0 : settings.detect_from; }

} // namespace

void ConnectionEvents::peer_connected(PeerState& peer) {
    ++counters_.events;
    streams_.offer(peer.index);
    if (listener_ != nullptr) listener_->peer_connected(peer.index, peer.world_rank);
}

void ConnectionEvents::peer_reset(PeerState& peer) {
    streams_.reset(peer.index);
    peer.messages = {};
    frames_.reset(peer);
}

UcxNetwork::UcxNetwork(const NetworkConfig& settings, const FrameConfig& frames)
    : lifetime_(detect_from(settings) != INT32_MAX ? PeerLifetime::may_return : PeerLifetime::permanent)
    , peers_(*settings.listener, counters_)
    , staging_(*settings.listener)
    , requests_(worker_, staging_, *settings.listener, frames.listener, counters_)
    , messages_(worker_, peers_, requests_, staging_, *settings.listener, counters_)
    , offers_(peers_, requests_)
    , streams_(settings.world_rank, settings.keys, frames, offers_, counters_)
    , frames_(worker_, peers_, requests_, streams_, frames.listener, counters_,
              settings.batch_all_frames ? FrameBatching::all : FrameBatching::after_first)
    , connection_events_(streams_, frames_, frames.listener, counters_)
    , connector_({settings.world_rank, detect_from(settings), settings.keys, settings.resolver}, worker_,
                 peers_, requests_, connection_events_, counters_) {}

bool UcxNetwork::start(const char* devices, std::string& why) {
    if (!worker_.start(devices, lifetime_, why)) return false;
    if (connector_.listen() && messages_.listen() && frames_.listen() && worker_.load_address() &&
        (!streams_.is_enabled() || streams_.open(worker_.descriptor(), devices)))
        return true;
    why = "UCX found no usable device or is out of memory";
    return false;
}

// UCX may complete operations meanwhile, so the components are still needed.
UcxNetwork::~UcxNetwork() {
    streams_.close_all();
    connector_.close_all();
    worker_.stop();
}

int UcxNetwork::progress() {
    counters_.events = 0;
    ++counters_.poll_id;
    messages_.flush_batches();
    frames_.flush_batches();
    if (streams_.is_open() && !streams_.poll() && !worker_.may_use_rdma() &&
        !(worker_.needs_arm() && counters_.poll_id % ucx_poll_interval == 0))
        return counters_.events;
    worker_.require_arm();
    const int before = counters_.events;
    // UCX also counts internal events; return after a real event because the caller may wait for it.
    while (worker_.progress() != 0 && counters_.events == before) {
    }
    connector_.progress();
    if (counters_.events != before) streams_.set_engine_active();
    return counters_.events;
}

bool UcxNetwork::arm() {
    streams_.watch_writable();
    if (worker_.arm()) return true;
    streams_.set_engine_active(); // UCX needs progress
    return false;
}

} // namespace zipmpi::transport::ucx

extern "C" [[gnu::visibility("default")]] zipmpi::transport::FrameNetwork*
zipmpi_ucx_open_for_frames_4(const zipmpi::transport::NetworkConfig& settings,
                             const zipmpi::transport::FrameConfig& frames, std::string& why) {
    using namespace zipmpi::transport::ucx;
    auto network = std::make_unique<UcxNetwork>(settings, frames);
    if (!network->start(settings.devices, why)) return nullptr;
    return network.release();
}
