// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge_job.hpp"

namespace zipmpi::simulation {
namespace {

constexpr std::array<uint8_t, wire::key_bytes> key{1, 2, 3};
constexpr uint64_t longest_sleep = second;

} // namespace

BridgeGateway::BridgeGateway(BridgeJob& job, int number)
    : Process(job.simulator, "gateway " + std::to_string(number))
    , job_(job)
    , number_(number) {}

BridgeGateway::~BridgeGateway() { kill(); }

void BridgeGateway::open(int starts) {
    stats_ = std::make_unique<gateway::GatewayStats>();
    forwarder_ = std::make_unique<gateway::Forwarder>(
        gateway::GatewayConfig{job_.map(), number_, job_.ranks(), job_.number(), gateway_pool,
                               job_.locator.node_of, key},
        *stats_);
    const bridge::GatewaySpec& spec = job_.map().gateways[static_cast<size_t>(number_)];
    up_.assign(spec.links.size(), false);
    std::string why;
    job_.carrier.set_opening(*this);
    for (const bridge::Attachment& a : spec.attached)
        if (!forwarder_->open(a.cluster, std::to_string(a.cluster), *this, why))
            return simulator().fail("no network: " + why);
    forwarder_->use_links(this);
    if (starts > 1) forwarder_->connect_all();
    start();
}

// No destructor of a killed process runs; here they run without effect on others.
void BridgeGateway::kill() {
    if (forwarder_ == nullptr) return;
    end();
    job_.carrier.abandon(*this);
    forwarder_.reset();
    for (gateway::InTransitFrame* const t : std::exchange(sent_, {})) delete t;
    inbox_.clear();
}

void BridgeGateway::set_link(int to_gateway, LinkState state) {
    const std::vector<bridge::GatewayLink>& links = job_.map().gateways[static_cast<size_t>(number_)].links;
    for (size_t i = 0; i < links.size(); ++i) {
        if (links[i].to_gateway != to_gateway || forwarder_ == nullptr || up_[i] == (state == LinkState::up))
            continue;
        up_[i] = state == LinkState::up;
        if (state == LinkState::up)
            forwarder_->on_link_up(to_gateway);
        else
            forwarder_->on_link_down(to_gateway);
        wake();
    }
}

bool BridgeGateway::send(int link, gateway::InTransitFrame& t) {
    if (!up_[static_cast<size_t>(link)]) return false;
    const int to =
        job_.map().gateways[static_cast<size_t>(number_)].links[static_cast<size_t>(link)].to_gateway;
    job_.forward(number_, to, {Item::Kind::frame, 0, number_, t.head, {t.data.begin(), t.data.end()}});
    sent_.push_back(&t);
    wake();
    return true;
}

void BridgeGateway::arrive(Item item) {
    if (forwarder_ == nullptr) return;
    inbox_.push_back(std::move(item));
    wake();
}

uint64_t BridgeGateway::poll() {
    for (gateway::InTransitFrame* const t : std::exchange(sent_, {})) forwarder_->on_frame_sent(*t);
    while (!inbox_.empty() && !forwarder_->is_full()) {
        const Item item = std::move(inbox_.front());
        inbox_.pop_front();
        const int from = bridge::gateway_id(job_.ranks(), item.from);
        static_cast<void>(forwarder_->on_frame({-1, from, item.head, item.data, nullptr, nullptr, nullptr}));
    }
    static_cast<void>(forwarder_->progress(gateway::PollScope::all));
    const bool sleeps = forwarder_->arm() && sent_.empty();
    return simulator().now() + (sleeps ? longest_sleep : simulator().between(us, 10 * us));
}

// Ranks may have their credit here, also of connections that they have lost meanwhile; links are not read
// above the limit.
void BridgeGateway::check_memory() const {
    constexpr uint64_t connections = 3;
    if (forwarder_ == nullptr) return;
    const uint64_t limit =
        static_cast<uint64_t>(job_.ranks()) * connections * rank_credit + (up_.empty() ? 0 : gateway_pool);
    if (stats_->totals.buffered_bytes.load(std::memory_order_relaxed) > limit)
        simulator().fail(name() + " buffers more than " + std::to_string(limit) + " bytes");
}

} // namespace zipmpi::simulation
