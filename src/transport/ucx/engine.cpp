// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The network comes up and goes down.
#include "transport/ucx/engine.hpp"
#include "transport/ucx/rdma.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace zipmpi::transport::ucx {
namespace {

// What the user has not set. Names begin with UCX_.
bool configure_one(ucp_config_t* config, const char* name, const char* value) {
    return std::getenv(name) != nullptr || ucp_config_modify(config, name + 4, value) == UCS_OK;
}

// Emulated devices do not say by which protocol a datagram came, and UCX would drop them all.
bool some_are_emulated(std::string_view devices) {
    for (size_t begin = 0; begin < devices.size();) {
        const std::string_view name = devices.substr(begin, devices.find(',', begin) - begin);
        if (has_rdma(name) && is_emulated(name)) return true;
        begin += name.size() + 1;
    }
    return false;
}

// UCX 1.13 takes this setting by its short name only, and says nothing if it does not know one.
bool connect_without_waiting(ucp_config_t* config) {
    return configure_one(config, "UCX_TCP_CONN_NB", "y") &&
           (std::getenv("UCX_TCP_CONN_NB") != nullptr || ucp_config_modify(config, "CONN_NB", "y") == UCS_OK);
}

// peers_return: some may be cut off, and are connected to again. UCX would wait for that, seconds at worst,
// while others are well.
bool configure(ucp_config_t* config, const char* devices, bool peers_return) {
    if (!configure_one(config, "UCX_TLS", "^sm,self")) return false; // ranks of one host do not come here
    if (peers_return && !connect_without_waiting(config)) return false;
    if (some_are_emulated(devices) && !configure_one(config, "UCX_UD_ETH_DGID_CHECK", "n")) return false;
    return *devices == '\0' || configure_one(config, "UCX_NET_DEVICES", devices);
}

std::string in_words(const char* call, ucs_status_t status) {
    return std::string(call) + " of UCX " + ucp_get_version_string() + ": " + ucs_status_string(status);
}

} // namespace

Engine::Engine(const Settings& settings, const FrameSettings& frames)
    : world_rank_(settings.world_rank)
    , watch_from_(settings.watch_peers ? 0 : settings.watch_from)
    , gathers_(settings.gathers)
    , sink_(settings.sink)
    , book_(settings.book)
    , frames_(frames) {
    std::memcpy(key_.data(), settings.key.data(), key_.size());
}

bool Engine::start(const char* devices, std::string& why) {
    rdma_ = has_rdma(devices);
    ucp_config_t* config = nullptr;
    ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
    if (status != UCS_OK || !configure(config, devices, watch_from_ != INT32_MAX)) {
        why = in_words("ucp_config_read", status);
        return false;
    }
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    if (rdma_) params.features |= UCP_FEATURE_RMA; // or UCX does not say whether a peer's memory can be read
    status = ucp_init(&params, config, &context_);
    ucp_config_release(config);
    if (status != UCS_OK) {
        why = in_words("ucp_init", status);
        return false;
    }
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    status = ucp_worker_create(context_, &worker, &worker_);
    if (status == UCS_OK) status = ucp_worker_get_efd(worker_, &descriptor_);
    if (status != UCS_OK) {
        why = in_words("ucp_worker_create", status);
        return false;
    }
    if (!listen() || (frames_.streams && !open_events(devices))) {
        why = "UCX has no memory, or no device that can be used";
        return false;
    }
    return true;
}

// Ready for messages, and an address that others can use.
bool Engine::listen() {
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
    if (!handle(wire::net_hello, on_greeting) || !handle(wire::net_welcome, on_greeting) ||
        !handle(wire::net_line, on_line) || !handle(wire::net_batch, on_batch) ||
        !handle(wire::net_message, on_message) || !handle(wire::net_long, on_message) ||
        !handle(wire::net_frame, on_frame) || (frames_.streams && !handle(wire::net_offer, on_offer)))
        return false;
    ucp_address_t* address = nullptr;
    size_t length = 0;
    if (ucp_worker_get_address(worker_, &address, &length) != UCS_OK) return false;
    address_.assign(reinterpret_cast<const char*>(address), length);
    ucp_worker_release_address(worker_, address);
    return length <= wire::net_address_max;
}

Engine::~Engine() {
    for (Known& peer : peers_) close_stream(peer);
    for (Known& peer : peers_) {
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

int Engine::progress() {
    happened_ = 0;
    ++look_;
    send_batches();
    send_waiting();
    if (events_ && !look_at_streams()) return happened_;
    touched_ = true;
    const int before = happened_;
    // UCX counts events of its own that mean nothing to us; once something has come, the caller may have been
    // waiting for just that.
    while (ucp_worker_progress(worker_) != 0 && happened_ == before) {
    }
    if (!hellos_.empty()) take_hellos();
    if (!aside_.empty()) close_aside();
    if (happened_ != before) hot_ = -1;
    return happened_;
}

bool Engine::arm() {
    watch_streams_out();
    if (touched_ && ucp_worker_arm(worker_) != UCS_OK) {
        hot_ = -1; // it wants to be looked at
        return false;
    }
    touched_ = false;
    return true;
}

bool Engine::idle() const { return under_way_ == 0 && writing_.empty() && waiting_streams_.empty(); }

} // namespace zipmpi::transport::ucx

extern "C" [[gnu::visibility("default")]] zipmpi::transport::ucx::FrameNetwork*
zipmpi_ucx_open_for_frames_2(const zipmpi::transport::ucx::Settings& settings,
                             const zipmpi::transport::ucx::FrameSettings& frames, std::string& why) {
    using namespace zipmpi::transport::ucx;
    auto engine = std::make_unique<Engine>(settings, frames);
    if (!engine->start(settings.devices, why)) return nullptr;
    return engine.release();
}

extern "C" [[gnu::visibility("default")]] zipmpi::transport::ucx::Network*
zipmpi_ucx_open_3(const zipmpi::transport::ucx::Settings& settings, std::string& why) {
    return zipmpi_ucx_open_for_frames_2(settings, {}, why);
}
