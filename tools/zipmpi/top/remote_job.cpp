// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/remote_job.hpp"

#include "launch/protocol/frame_socket.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/protocol/view_socket.hpp"
#include "os/clock.hpp"
#include "top/job_discovery.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <poll.h>

namespace zipmpi::tool {
namespace {

constexpr uint64_t time_to_reply = 5'000'000'000; // mpiexec waits 2 s for its daemons

class RemoteJob final : public JobSource {
  public:
    RemoteJob(std::string id, os::Fd socket)
        : id_(std::move(id))
        , socket_(std::move(socket), nullptr) {}

    [[nodiscard]] const std::string& id() const override { return id_; }

    bool sample(JobSample& out) override {
        nodes_.clear();
        missing_.clear();
        socket_.send(launch::ControlFrameType::request_view);
        if (!receive_round(os::now_ns() + time_to_reply)) return false;
        out = {};
        std::map<int, std::pair<const launch::HostView*, size_t>> by_rank;
        for (const auto& [node, view] : nodes_)
            for (size_t i = 0; i < view.ranks.size(); ++i) by_rank[view.ranks[i].rank] = {&view, i};
        for (const auto& [rank, place] : by_rank) {
            out.ranks.push_back(place.first->ranks[place.second]);
            out.totals.push_back(place.first->totals[place.second]);
            out.hosts.push_back(place.first->host);
        }
        return true;
    }

    [[nodiscard]] std::string extent() const override {
        const std::string all = fmt::format("{} host{}", nodes_.size() + missing_.size(),
                                            nodes_.size() + missing_.size() == 1 ? "" : "s");
        return missing_.empty() ? all : fmt::format("{}, {} without reply", all, missing_.size());
    }

    [[nodiscard]] Json facts() const override {
        Json hosts = Json::array();
        for (const auto& [node, view] : nodes_)
            hosts.push_back({{"host", view.host}, {"node", node}, {"ranks", view.ranks.size()}});
        return {{"job", id_},
                {"nodes", nodes_.size() + missing_.size()},
                {"missing_nodes", Json(std::vector<int>(missing_.begin(), missing_.end()))},
                {"hosts", hosts}};
    }

  private:
    // False if the connection has ended, or there was no reply in time.
    bool receive_round(uint64_t deadline) {
        for (;;) {
            for (launch::ControlFrame f; socket_.next(f);) {
                launch::PayloadReader r(f.payload);
                if (f.type == launch::ControlFrameType::view_end) {
                    missing_ = r.numbers();
                    return r.is_finished();
                }
                static_cast<void>(r.u32()); // number of the round
                const uint32_t node = r.u32();
                if (f.type == launch::ControlFrameType::view && r.ok() && !decode(r.rest(), nodes_[node]))
                    return false;
            }
            const uint64_t now = os::now_ns();
            pollfd p{socket_.fd(), POLLIN, 0};
            if (now >= deadline || poll(&p, 1, static_cast<int>((deadline - now) / 1'000'000) + 1) <= 0 ||
                !socket_.receive())
                return false;
        }
    }

    std::string id_;
    launch::FrameSocket socket_;
    std::map<uint32_t, launch::HostView> nodes_; // of the last sample
    std::vector<uint32_t> missing_;              // nodes that have not replied
};

} // namespace

std::vector<std::unique_ptr<JobSource>> find_remote_jobs(const TopOptions& options) {
    std::vector<std::unique_ptr<JobSource>> sources;
    for (const std::string& id : launch::find_view_sockets()) {
        if (!options.job.empty() && id.find(options.job) == std::string::npos) continue;
        launch::ViewConnection c = launch::connect_to_views(id);
        if (!c.socket) continue;
        if (options.pid == 0 || any_descends_from({options.pid}, c.mpiexec) ||
            any_descends_from({c.mpiexec}, options.pid))
            sources.push_back(std::make_unique<RemoteJob>(id, std::move(c.socket)));
    }
    return sources;
}

} // namespace zipmpi::tool
