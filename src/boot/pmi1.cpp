// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Client of PMI-1, the "simple" protocol of Hydra and many other launchers: one line per command and reply.
#include "boot/environment.hpp"
#include "boot/pmi_client.hpp"
#include "boot/timeouts.hpp"

#include <algorithm>

namespace zipmpi::boot {
namespace {

class Pmi1 final : public Launcher {
  public:
    Pmi1(PmiConnection connection, const PmiIdentity& me)
        : c_(std::move(connection))
        , rank_(me.rank)
        , native_(me.native) {}

    // Queries the limits and the name of the key-value space, which put and get require.
    bool query_key_space(std::string& name) {
        std::string limit;
        if (!c_.request("cmd=get_maxes", "maxes", request_timeout_ms)) return false;
        if (c_.reply_field("vallen_max", limit))
            value_max_ = std::min<size_t>(value_limit, static_cast<size_t>(whole_number(limit).value_or(0)));
        if (!c_.request("cmd=get_my_kvsname", "my_kvsname", request_timeout_ms)) return false;
        if (!c_.reply_field("kvsname", kvs_) || kvs_.empty() || kvs_.size() > longest_name) return false;
        name = kvs_;
        return true;
    }
    // Attributes are optional: a launcher may not support them.
    int attribute(std::string_view command, std::string_view reply_name, std::string_view name) {
        std::string value;
        if (!c_.request(command, reply_name, request_timeout_ms) || !c_.reply_field(name, value)) return -1;
        return whole_number(value).value_or(-1);
    }
    bool lookup(std::string_view key, std::string& value) {
        return c_.request("cmd=get kvsname=" + kvs_ + " key=" + std::string(key), "get_result",
                          request_timeout_ms) &&
               c_.reply_field_is("rc", "0") && c_.reply_field("value", value);
    }
    [[nodiscard]] const std::string& failure() const { return c_.failure(); }

    bool put(std::string_view key, std::string_view value) override {
        return value.size() <= value_max_ &&
               c_.request("cmd=put kvsname=" + kvs_ + " key=" + key_of(rank_, key) +
                              " value=" + std::string(value),
                          "put_result", request_timeout_ms) &&
               c_.reply_field_is("rc", "0");
    }
    bool get(int from_rank, std::string_view key, std::string& value) override {
        return lookup(key_of(from_rank, key), value);
    }
    bool fence() override { return c_.request("cmd=barrier_in", "barrier_out", PmiConnection::no_limit); }
    void abort(int exit_code, std::string_view) override {
        if (c_.send("cmd=abort exitcode=" + std::to_string(exit_code))) wait_for_termination();
    }
    bool notify(std::string_view message) override { // Hydra aborts the job on an unknown command
        return native_ && c_.send("cmd=zipmpi_tell " + std::string(message));
    }
    void finalize() override { c_.request("cmd=finalize", "finalize_ack", request_timeout_ms); }

  private:
    static constexpr size_t longest_name = 1024;
    PmiConnection c_;
    int rank_;
    bool native_;
    std::string kvs_;
    size_t value_max_ = value_limit;
};

} // namespace

std::unique_ptr<Launcher> open_pmi1(PmiConnection connection, PmiIdentity& me, std::string& why) {
    auto pmi = std::make_unique<Pmi1>(std::move(connection), me);
    if (!pmi->query_key_space(me.job_id)) {
        why = pmi->failure().empty() ? "the launcher has no key-value space for this job" : pmi->failure();
        return nullptr;
    }
    me.protocol = Protocol::pmi1;
    me.app_number = pmi->attribute("cmd=get_appnum", "appnum", "appnum");
    me.universe_size = pmi->attribute("cmd=get_universe_size", "universe_size", "size");
    if (!pmi->lookup("PMI_process_mapping", me.mapping)) me.mapping.clear();
    return pmi;
}

} // namespace zipmpi::boot
