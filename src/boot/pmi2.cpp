// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Client of PMI-2 as implemented by Slurm (srun --mpi=pmi2) and Hydra: frames of fields ended by semicolons.
#include "boot/environment.hpp"
#include "boot/pmi_client.hpp"
#include "boot/timeouts.hpp"

namespace zipmpi::boot {
namespace {

// Truncates to 256 bytes and replaces characters that would end a field by blanks.
std::string sanitize(std::string_view text) {
    std::string s(text.substr(0, 256));
    for (char& c : s)
        if (c == ';' || c == '=' || c < ' ' || c > '~') c = ' ';
    return s;
}

class Pmi2 final : public Launcher {
  public:
    explicit Pmi2(PmiConnection connection)
        : c_(std::move(connection)) {}

    bool full_init(PmiIdentity& me) {
        const std::string job = me.job_id.empty() ? "" : "pmijobid=" + sanitize(me.job_id) + ";";
        if (!request("cmd=fullinit;" + job + "pmirank=" + std::to_string(me.rank) + ";threaded=FALSE;",
                     "fullinit-response"))
            return false;
        const int rank = number("rank");
        const int size = number("size");
        if (rank != me.rank || size != me.size) {
            mismatch_ = "the environment has rank " + std::to_string(me.rank) + " of " +
                        std::to_string(me.size) + ", the launcher reports rank " + std::to_string(rank) +
                        " of " + std::to_string(size);
            return false;
        }
        me.app_number = number("appnum");
        rank_ = me.rank;
        std::string name;
        if (request("cmd=job-getid;", "job-getid-response") && c_.reply_field("jobid", name)) job_id_ = name;
        if (job_id_.empty()) job_id_ = me.job_id;
        me.job_id = job_id_;
        return true;
    }
    bool attribute(std::string_view key, std::string& value) {
        return request("cmd=info-getjobattr;key=" + std::string(key) + ";", "info-getjobattr-response") &&
               c_.reply_field_is("found", "TRUE") && c_.reply_field("value", value);
    }
    [[nodiscard]] const std::string& failure() const { return mismatch_.empty() ? c_.failure() : mismatch_; }

    bool put(std::string_view key, std::string_view value) override {
        return value.size() <= value_limit &&
               request("cmd=kvs-put;key=" + key_of(rank_, key) + ";value=" + std::string(value) + ";",
                       "kvs-put-response");
    }
    bool get(int from_rank, std::string_view key, std::string& value) override {
        return request("cmd=kvs-get;jobid=" + job_id_ + ";srcid=-1;key=" + key_of(from_rank, key) + ";",
                       "kvs-get-response") &&
               c_.reply_field_is("found", "TRUE") && c_.reply_field("value", value);
    }
    bool fence() override {
        return c_.request("cmd=kvs-fence;", "kvs-fence-response", PmiConnection::no_limit) &&
               c_.reply_field_is("rc", "0");
    }
    void abort(int exit_code, std::string_view text) override {
        const std::string note = sanitize(text) + ", exit code " + std::to_string(exit_code);
        if (c_.send("cmd=abort;isworld=TRUE;msg=" + note + ";")) wait_for_termination();
    }
    void finalize() override { request("cmd=finalize;", "finalize-response"); }

  private:
    bool request(const std::string& command, std::string_view reply_name) {
        return c_.request(command, reply_name, request_timeout_ms) && c_.reply_field_is("rc", "0");
    }
    int number(std::string_view name) {
        std::string value;
        return c_.reply_field(name, value) ? whole_number(value).value_or(-1) : -1;
    }

    PmiConnection c_;
    int rank_ = 0;
    std::string job_id_;
    std::string mismatch_;
};

} // namespace

std::unique_ptr<Launcher> open_pmi2(PmiConnection connection, PmiIdentity& me, std::string& why) {
    auto pmi = std::make_unique<Pmi2>(std::move(connection));
    if (!pmi->full_init(me)) {
        why = pmi->failure().empty() ? "the launcher rejected the PMI-2 initialization" : pmi->failure();
        return nullptr;
    }
    me.protocol = Protocol::pmi2;
    std::string universe;
    if (pmi->attribute("universeSize", universe)) me.universe_size = whole_number(universe).value_or(-1);
    if (!pmi->attribute("PMI_process_mapping", me.mapping)) me.mapping.clear();
    return pmi;
}

} // namespace zipmpi::boot
