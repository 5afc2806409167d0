// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Startup and shutdown of the network.
#include "transport/ucx/ucx_network.hpp"
#include "transport/discovery/rdma_ports.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace zipmpi::transport::ucx {
namespace {

// Sets a value unless the user has set it. Names begin with UCX_.
bool set_default(ucp_config_t* config, const char* name, const char* value) {
    return std::getenv(name) != nullptr || ucp_config_modify(config, name + 4, value) == UCS_OK;
}

// Emulated devices do not report the protocol of a datagram; UCX's check would drop all of them.
bool any_emulated(std::string_view devices) {
    for (size_t begin = 0; begin < devices.size();) {
        const std::string_view name = devices.substr(begin, devices.find(',', begin) - begin);
        if (discovery::has_rdma(name) && discovery::is_emulated(name)) return true;
        begin += name.size() + 1;
    }
    return false;
}

// UCX 1.13 accepts this setting only by its short name and silently ignores unknown names.
bool set_nonblocking_connect(ucp_config_t* config) {
    return set_default(config, "UCX_TCP_CONN_NB", "y") &&
           (std::getenv("UCX_TCP_CONN_NB") != nullptr || ucp_config_modify(config, "CONN_NB", "y") == UCS_OK);
}

// peers_return: some peers may be cut off and reconnected. UCX would block for that, up to seconds, while
// other peers are reachable.
bool configure(ucp_config_t* config, const char* devices, bool peers_return) {
    if (!set_default(config, "UCX_TLS", "^sm,self")) return false; // ranks of one host use shm
    if (peers_return && !set_nonblocking_connect(config)) return false;
    if (any_emulated(devices) && !set_default(config, "UCX_UD_ETH_DGID_CHECK", "n")) return false;
    return *devices == '\0' || set_default(config, "UCX_NET_DEVICES", devices);
}

std::string error_text(const char* call, ucs_status_t status) {
    return std::string(call) + " of UCX " + ucp_get_version_string() + ": " + ucs_status_string(status);
}

} // namespace

UcxNetwork::UcxNetwork(const NetworkConfig& settings, const FrameConfig& frames)
    : world_rank_(settings.world_rank)
    , detect_from_(settings.detect_failures ? 0 : settings.detect_from)
    , batch_all_frames_(settings.batch_all_frames)
    , callbacks_(settings.callbacks)
    , resolver_(settings.resolver)
    , frame_config_(frames) {
    std::memcpy(key_.data(), settings.key.data(), key_.size());
}

bool UcxNetwork::start(const char* devices, std::string& why) {
    rdma_ = discovery::has_rdma(devices);
    ucp_config_t* config = nullptr;
    ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
    if (status != UCS_OK || !configure(config, devices, detect_from_ != INT32_MAX)) {
        why = error_text("ucp_config_read", status);
        return false;
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    if (rdma_)
        params.features |= UCP_FEATURE_RMA; // else UCX does not report whether remote memory can be read
    status = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    if (status != UCS_OK) {
        why = error_text("ucp_init", status);
        return false;
    }
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    status = ucp_worker_create(context_, &worker, &worker_);
    if (status == UCS_OK) status = ucp_worker_get_efd(worker_, &descriptor_);
    if (status != UCS_OK) {
        why = error_text("ucp_worker_create", status);
        return false;
    }
    if (!listen() || (frame_config_.streams && !open_events(devices))) {
        why = "UCX found no usable device or is out of memory";
        return false;
    }
    return true;
}

// Registers the message handlers and obtains the address for peers.
bool UcxNetwork::listen() {
    const auto handle = [this](unsigned id, ucp_am_recv_callback_t call) {
        ucp_am_handler_param_t h{};
        h.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
        h.id = id;
        h.cb = call;
        h.arg = this;
        h.flags = UCP_AM_FLAG_WHOLE_MSG;
        return ucp_worker_set_am_recv_handler(worker_, &h) == UCS_OK;
    };
    if (!handle(wire::net_hello, on_handshake) || !handle(wire::net_hello_reply, on_handshake) ||
        !handle(wire::net_control, on_control) || !handle(wire::net_batch, on_batch) ||
        !handle(wire::net_message, on_message) || !handle(wire::net_rendezvous, on_message) ||
        !handle(wire::net_frame, on_frame) ||
        (frame_config_.streams && !handle(wire::net_stream_offer, on_offer)))
        return false;
    ucp_address_t* address = nullptr;
    size_t length = 0;
    if (ucp_worker_get_address(worker_, &address, &length) != UCS_OK) return false;
    address_.assign(reinterpret_cast<const char*>(address), length);
    ucp_worker_release_address(worker_, address);
    return length <= wire::net_address_max;
}

UcxNetwork::~UcxNetwork() {
    for (PeerState& peer : peers_) close_stream(peer);
    for (PeerState& peer : peers_) {
        if (peer.endpoint == nullptr) continue;
        ucp_request_param_t force{};
        force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        force.flags = UCP_EP_CLOSE_FLAG_FORCE;
        void* request = ucp_ep_close_nbx(peer.endpoint, &force);
        if (!UCS_PTR_IS_PTR(request)) continue;
        for (int i = 0; i < 1000 && ucp_request_check_status(request) == UCS_INPROGRESS; ++i)
            ucp_worker_progress(worker_);
        ucp_request_free(request);
    }
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
}

int UcxNetwork::progress() {
    events_ = 0;
    ++poll_id_;
    flush_message_batches();
    flush_batches();
    if (epoll_ && !poll_streams()) return events_;
    needs_arm_ = true;
    const int before = events_;
    // UCX also counts internal events; return after a real event because the caller may wait for it.
    while (ucp_worker_progress(worker_) != 0 && events_ == before) {
    }
    if (!pending_hellos_.empty()) process_hellos();
    if (!retired_endpoints_.empty()) close_retired();
    if (events_ != before) active_stream_ = -1;
    return events_;
}

bool UcxNetwork::arm() {
    watch_writable_streams();
    if (needs_arm_ && ucp_worker_arm(worker_) != UCS_OK) {
        active_stream_ = -1; // UCX needs progress
        return false;
    }
    needs_arm_ = false;
    return true;
}

bool UcxNetwork::idle() const { return in_flight_ == 0 && writing_.empty() && waiting_streams_.empty(); }

} // namespace zipmpi::transport::ucx

extern "C" [[gnu::visibility("default")]] zipmpi::transport::FrameNetwork*
zipmpi_ucx_open_for_frames_2(const zipmpi::transport::NetworkConfig& settings,
                             const zipmpi::transport::FrameConfig& frames, std::string& why) {
    using namespace zipmpi::transport::ucx;
    auto network = std::make_unique<UcxNetwork>(settings, frames);
    if (!network->start(settings.devices, why)) return nullptr;
    return network.release();
}

extern "C" [[gnu::visibility("default")]] zipmpi::transport::Network*
zipmpi_ucx_open_3(const zipmpi::transport::NetworkConfig& settings, std::string& why) {
    return zipmpi_ucx_open_for_frames_2(settings, {}, why);
}
