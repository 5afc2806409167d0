// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PMI-1, the "simple" protocol of hydra and many other launchers: one line out, one line back.
#include "boot/environment.hpp"
#include "boot/limits.hpp"
#include "boot/pmi_text.hpp"

#include <algorithm>

namespace zipmpi::boot {
namespace {

class Pmi1 final : public Launcher {
  public:
    Pmi1(TextConnection connection, const PmiIdentity& me)
        : c_(std::move(connection))
        , rank_(me.rank)
        , of_mpiexec_(me.of_mpiexec) {}

    // Limits and the name of the key space: without them nothing can be put.
    bool learn_key_space(std::string& name) {
        std::string limit;
        if (!c_.ask("cmd=get_maxes", "maxes", request_limit_ms)) return false;
        if (c_.answer("vallen_max", limit))
            value_max_ = std::min<size_t>(value_limit, static_cast<size_t>(whole_number(limit).value_or(0)));
        if (!c_.ask("cmd=get_my_kvsname", "my_kvsname", request_limit_ms)) return false;
        if (!c_.answer("kvsname", kvs_) || kvs_.empty() || kvs_.size() > longest_name) return false;
        name = kvs_;
        return true;
    }
    // Attributes are a courtesy: a launcher may not know them.
    int attribute(std::string_view command, std::string_view answer_name, std::string_view name) {
        std::string value;
        if (!c_.ask(command, answer_name, request_limit_ms) || !c_.answer(name, value)) return -1;
        return whole_number(value).value_or(-1);
    }
    bool lookup(std::string_view key, std::string& value) {
        return c_.ask("cmd=get kvsname=" + kvs_ + " key=" + std::string(key), "get_result",
                      request_limit_ms) &&
               c_.answer_is("rc", "0") && c_.answer("value", value);
    }
    [[nodiscard]] const std::string& failure() const { return c_.failure(); }

    bool put(std::string_view key, std::string_view value) override {
        return value.size() <= value_max_ &&
               c_.ask("cmd=put kvsname=" + kvs_ + " key=" + key_of(rank_, key) +
                          " value=" + std::string(value),
                      "put_result", request_limit_ms) &&
               c_.answer_is("rc", "0");
    }
    bool get(int from_rank, std::string_view key, std::string& value) override {
        return lookup(key_of(from_rank, key), value);
    }
    bool fence() override { return c_.ask("cmd=barrier_in", "barrier_out", TextConnection::no_limit); }
    void abort(int exit_code, std::string_view) override {
        if (c_.send("cmd=abort exitcode=" + std::to_string(exit_code))) await_the_end();
    }
    bool tell(std::string_view words) override { // hydra ends the job for a word that it does not know
        return of_mpiexec_ && c_.send("cmd=zipmpi_tell " + std::string(words));
    }
    void finalize() override { c_.ask("cmd=finalize", "finalize_ack", request_limit_ms); }

  private:
    static constexpr size_t longest_name = 1024;
    TextConnection c_;
    int rank_;
    bool of_mpiexec_;
    std::string kvs_;
    size_t value_max_ = value_limit;
};

} // namespace

std::unique_ptr<Launcher> open_pmi1(TextConnection connection, PmiIdentity& me, std::string& why) {
    auto pmi = std::make_unique<Pmi1>(std::move(connection), me);
    if (!pmi->learn_key_space(me.job_id)) {
        why = pmi->failure().empty() ? "the launcher has no key space for this job" : pmi->failure();
        return nullptr;
    }
    me.protocol = Protocol::pmi1;
    me.app_number = pmi->attribute("cmd=get_appnum", "appnum", "appnum");
    me.universe_size = pmi->attribute("cmd=get_universe_size", "universe_size", "size");
    if (!pmi->lookup("PMI_process_mapping", me.mapping)) me.mapping.clear();
    return pmi;
}

} // namespace zipmpi::boot
