// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "control_job.hpp"

namespace zipmpi::simulation {
namespace {

std::string key_of(uint32_t rank, uint32_t round) {
    return "zipmpi-" + std::to_string(rank) + "-" + std::to_string(round);
}

// A key that does not name its rank, as other libraries use them: fences distribute it.
std::string shared_key_of(uint32_t rank, uint32_t round) {
    return "shared-" + std::to_string(rank) + "-" + std::to_string(round);
}

std::string value_of(uint32_t rank, uint32_t round) {
    return "value-" + std::to_string(rank) + "-" + std::to_string(round);
}

} // namespace

ControlRank::ControlRank(ControlJob& job, uint32_t rank)
    : job_(job)
    , rank_(rank)
    , waits_for_("cmd=response_to_init") {}

void ControlRank::send(const std::string& text) { job_.send_to_daemon(rank_, text); }

void ControlRank::receive(std::string_view bytes) {
    if (!is_running()) return;
    if (job_.simulator.now() < stopped_until_)
        return job_.send_to_rank(rank_, std::string(bytes), stopped_until_);
    in_.append(bytes);
    for (size_t end = in_.find('\n'); end != std::string::npos; end = in_.find('\n')) {
        const std::string line = in_.substr(0, end);
        in_.erase(0, end + 1);
        handle(line);
    }
}

void ControlRank::handle(const std::string& line) {
    if (waits_for_.empty() || !line.starts_with(waits_for_))
        return job_.simulator.fail("rank " + std::to_string(rank_) + " got \"" + line + "\" instead of \"" +
                                   waits_for_ + "\"");
    if (waits_for_ == "cmd=barrier_out") job_.check_fence(rank_, round_);
    if (waits_for_ == "cmd=get_result") check_value(line);
    next_step();
}

// A key of a rank that still runs must be found.
void ControlRank::check_value(const std::string& line) {
    const bool found = line.find(" rc=0 ") != std::string::npos;
    if (found && !line.ends_with("value=" + value_of(owner_, round_)))
        job_.simulator.fail("rank " + std::to_string(rank_) + " found a wrong value: " + line);
    if (!found && job_.rank(owner_).is_running() && job_.is_in_job(owner_))
        job_.simulator.fail("rank " + std::to_string(rank_) + " does not find a key of rank " +
                            std::to_string(owner_));
}

void ControlRank::next_step() {
    const std::string set = "cmd=put kvsname=simulated key=";
    const std::string assigned = " value=" + value_of(rank_, round_) + "\n";
    switch (step_++) {
    case 0:
        waits_for_ = "cmd=put_result";
        return send(set + key_of(rank_, round_) + assigned);
    case 1:
        return send(set + shared_key_of(rank_, round_) + assigned);
    case 2:
        waits_for_ = "cmd=barrier_out";
        ++fences_;
        return send("cmd=barrier_in\n");
    case 3:
    case 4:
        waits_for_ = "cmd=get_result";
        owner_ = static_cast<uint32_t>(job_.simulator.below(job_.size()));
        return send("cmd=get kvsname=simulated key=" +
                    (step_ == 4 ? key_of(owner_, round_) : shared_key_of(owner_, round_)) + "\n");
    case 5:
        waits_for_.clear();
        job_.note_contribution(round_, rank_);
        return send("cmd=zipmpi_tell what=agree context=1 number=" + std::to_string(round_) +
                    " flags=" + std::to_string(~(1U << rank_)) + " value=" + std::to_string(value()) +
                    " members=0-" + std::to_string(job_.size() - 1) + "\n");
    default:
        ended_ = true;
        job_.report_exit(rank_);
    }
}

void ControlRank::decided(uint32_t number, const Decision& decision) {
    if (!is_running()) return;
    if (number != round_ || step_ != 6)
        return job_.simulator.fail("rank " + std::to_string(rank_) + " got the result of another agreement");
    job_.check_decision(number, decision);
    step_ = ++round_ < ControlJob::rounds ? 0 : 6;
    next_step();
}

std::string ControlRank::state() const {
    return "rank " + std::to_string(rank_) + " in round " + std::to_string(round_) + " waits for " +
           (waits_for_.empty() ? "an agreement" : waits_for_) + "; ";
}

} // namespace zipmpi::simulation
