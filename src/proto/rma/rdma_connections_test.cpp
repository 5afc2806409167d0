// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Flushes of several targets on a device whose round trip is a number of progress calls. Like UCT it begins a
// flush when it is asked for, and not before it has issued the operations of the endpoint.
#include "proto/rma/rdma_connections.hpp"

#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/am_messenger.hpp"
#include "proto/rma/window_waiter.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace zipmpi::proto::rma {
namespace {

class SlowDevice final : public transport::RdmaDevice {
  public:
    static constexpr int round_trip = 10; // progress calls

    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] bool is_coherent() const override { return false; }
    [[nodiscard]] bool keeps_order() const override { return true; }
    int create_endpoint(std::string& text) override {
        text = name_;
        ends_.emplace_back();
        return static_cast<int>(ends_.size()) - 1;
    }
    bool connect(int, std::string_view) override { return true; }
    bool register_memory(void*, size_t, transport::MemoryRegion&) override { return true; }
    void deregister_memory(transport::MemoryRegion&) override {}
    bool import_key(std::string_view, transport::RemoteKey&) override { return true; }
    void release_key(transport::RemoteKey&) override {}
    void put(int end, const void*, size_t, const transport::RemoteAddress&) override {
        ++ends_[static_cast<size_t>(end)].queued;
    }
    void get(int, void*, size_t, const transport::RemoteAddress&) override {}
    void fetch_add(int, uint64_t, uint64_t*, const transport::RemoteAddress&) override {}
    void swap(int, uint64_t, uint64_t*, const transport::RemoteAddress&) override {}
    void compare_swap(int, uint64_t, uint64_t, uint64_t*, const transport::RemoteAddress&) override {}
    void progress() override {
        ++now_;
        for (End& e : ends_) {
            if (e.queued == 0) continue;
            --e.queued;
            e.unflushed = true;
        }
    }
    bool flushed(int end) override {
        End& e = ends_[static_cast<size_t>(end)];
        if (e.queued != 0) return false;
        if (e.unflushed) {
            e.unflushed = false;
            e.flushed_at = now_ + round_trip;
        }
        return now_ >= e.flushed_at;
    }
    [[nodiscard]] bool failed(int) const override { return false; }
    [[nodiscard]] int now() const { return now_; }

  private:
    struct End {
        int queued = 0;
        bool unflushed = false;
        int flushed_at = 0;
    };
    std::string name_ = "slow";
    std::vector<End> ends_;
    int now_ = 0;
};

class RdmaConnectionsTest : public testing::Test {
  protected:
    static constexpr int ranks = 9; // this one and 8 targets

    RdmaConnectionsTest() {
        Diagnostic why;
        EXPECT_TRUE(segment::NodeSegment::make("rdma_test", {0}, ranks, segment_, why));
        engine_ = std::make_unique<ProgressEngine>(segment_, 0, 0);
        team_.engine = engine_.get();
        team_.size = ranks;
        auto device = std::make_unique<SlowDevice>();
        device_ = device.get();
        context_ = std::make_unique<RdmaContext>(std::move(device), *engine_);
        messenger_ = std::make_unique<AmMessenger>(team_);
        waiter_ = std::make_unique<WindowWaiter>(team_, failure_);
        connections_ = std::make_unique<RdmaConnections>(team_, *context_, *messenger_, *waiter_, failure_);
    }
    void put_to(int rank, int count) {
        RdmaContext::RdmaConnection& connection = context_->connection_to(rank);
        if (connection.endpoint < 0) context_->connect_to_self(connection);
        const int endpoint = connections_->endpoint(rank);
        ASSERT_GE(endpoint, 0);
        for (int i = 0; i < count; ++i) device_->put(endpoint, nullptr, 8, {});
        context_->mark_busy(endpoint);
    }

    segment::NodeSegment segment_;
    std::unique_ptr<ProgressEngine> engine_;
    Team team_;
    DeferredError failure_;
    SlowDevice* device_ = nullptr;
    std::unique_ptr<RdmaContext> context_;
    std::unique_ptr<AmMessenger> messenger_;
    std::unique_ptr<WindowWaiter> waiter_;
    std::unique_ptr<RdmaConnections> connections_;
};

TEST_F(RdmaConnectionsTest, AllFlushesAreInFlightAtOnce) {
    for (int rank = 1; rank < ranks; ++rank) put_to(rank, rank); // issued at different times
    const int before = device_->now();
    connections_->flush_all();
    EXPECT_LT(device_->now() - before, 2 * SlowDevice::round_trip);
    EXPECT_FALSE(failure_.is_set());
}

TEST_F(RdmaConnectionsTest, FlushesOfSomeRanksAreInFlightAtOnce) {
    for (int rank = 1; rank < ranks; ++rank) put_to(rank, 1);
    const int before = device_->now();
    connections_->flush_ranks({1, 3, 5, 7});
    EXPECT_LT(device_->now() - before, 2 * SlowDevice::round_trip);
}

TEST_F(RdmaConnectionsTest, NothingIsWaitedForWithoutOperations) {
    for (int rank = 1; rank < ranks; ++rank) put_to(rank, 0);
    const int before = device_->now();
    connections_->flush_all();
    EXPECT_EQ(device_->now(), before);
}

} // namespace
} // namespace zipmpi::proto::rma
