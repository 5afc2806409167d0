// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi/pmi_server.hpp"

#include "launch/protocol/control_frame.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::launch {
namespace {
constexpr size_t stored_limit = 256U << 20; // bytes of all keys and values of a job

// Keys of the library contain the rank that has put them: "zipmpi-12-host". Returns -1 for other keys.
int owner_of(std::string_view key) {
    constexpr std::string_view prefix = "zipmpi-";
    if (!key.starts_with(prefix)) return -1;
    key.remove_prefix(prefix.size());
    return parse_pmi_int(key.substr(0, key.find('-')), -1);
}
} // namespace

PmiServer::PmiServer(PmiJob job, Send send, Abort abort, RemoteNodes remote)
    : job_(std::move(job))
    , send_(std::move(send))
    , abort_(std::move(abort))
    , clients_(job_.world_ranks.size())
    , barrier_threads_(job_.world_ranks.size())
    , remote_(std::move(remote)) {
    kvs_["PMI_process_mapping"] = job_.mapping;
}

void PmiServer::feed(uint32_t rank, std::string_view bytes) {
    Client& c = clients_[rank];
    if (c.protocol_error) return;
    c.in.append(bytes);
    while (!c.protocol_error && (c.version == 2 ? handle_block(rank) : handle_line(rank))) {
    }
    if (c.in.size() > pmi_message_limit) set_protocol_error(rank);
}

void PmiServer::set_protocol_error(uint32_t rank) {
    clients_[rank].protocol_error = true;
    clients_[rank].in.clear();
}

bool PmiServer::handle_line(uint32_t rank) {
    Client& c = clients_[rank];
    const size_t end = c.in.find('\n');
    if (end == std::string::npos) return false;
    const std::string line = c.in.substr(0, end);
    c.in.erase(0, end + 1);
    if (c.in_spawn) { // description of processes to spawn, in any form, up to its last line
        if (line != "endcmd") return true;
        c.in_spawn = false;
        send_(rank, "cmd=spawn_result rc=-1 status=not_supported\n");
        return true;
    }
    PmiMessage m;
    if (parse_pmi1(line, m)) {
        handle_pmi1(rank, m);
    } else {
        set_protocol_error(rank);
    }
    return true;
}

bool PmiServer::handle_block(uint32_t rank) {
    Client& c = clients_[rank];
    if (c.in.size() < 6) return false;
    if (c.in.compare(0, 4, "cmd=") == 0) { // the rank starts another program
        c.version = 1;
        return true;
    }
    const int length = parse_pmi2_length(std::string_view(c.in).substr(0, 6));
    if (length < 0) {
        set_protocol_error(rank);
        return false;
    }
    if (c.in.size() - 6 < static_cast<size_t>(length)) return false;
    const std::string body = c.in.substr(6, static_cast<size_t>(length));
    c.in.erase(0, 6 + static_cast<size_t>(length));
    PmiMessage m;
    if (parse_pmi2(body, m)) {
        handle_pmi2(rank, m);
    } else {
        set_protocol_error(rank);
    }
    return true;
}

void PmiServer::init(uint32_t rank, const PmiMessage& m) {
    Client& c = clients_[rank];
    const int version = parse_pmi_int(m.get("pmi_version"), 0);
    if (version != 1 && version != 2) {
        send_(rank, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n");
        return;
    }
    c.version = version;
    c.initialized = true;
    send_(rank, version == 2 ? "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"
                             : "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

void PmiServer::handle_pmi1(uint32_t rank, const PmiMessage& m) {
    const std::string_view cmd = m.command();
    if (cmd == "init") return init(rank, m);
    if (cmd == "get_maxes")
        return send_(rank, "cmd=maxes kvsname_max=256 keylen_max=" + std::to_string(pmi_key_limit) +
                               " vallen_max=" + std::to_string(pmi_value_limit) + "\n");
    if (cmd == "get_appnum")
        return send_(rank, "cmd=appnum appnum=" + std::to_string(job_.app_numbers[rank]) + "\n");
    if (cmd == "get_my_kvsname") return send_(rank, "cmd=my_kvsname kvsname=" + job_.id + "\n");
    if (cmd == "get_universe_size")
        return send_(rank, "cmd=universe_size size=" + std::to_string(job_.universe_size) + "\n");
    if (cmd == "barrier_in") return enter_barrier(rank);
    if (cmd == "finalize") {
        clients_[rank].initialized = false;
        return send_(rank, "cmd=finalize_ack\n");
    }
    if (cmd == "abort") return abort_(rank, parse_pmi_int(m.get("exitcode"), 1), m.get("error_str"));
    if (cmd == "zipmpi_tell") {
        if (notify_handler_) notify_handler_(rank, m);
        return;
    }
    if (cmd == "spawn") {
        clients_[rank].in_spawn = true;
        return;
    }
    handle_pmi1_kvs(rank, m);
}

void PmiServer::handle_pmi1_kvs(uint32_t rank, const PmiMessage& m) {
    const std::string_view cmd = m.command();
    const auto reply = [&](const char* name, bool ok, const std::string& more) {
        send_(rank,
              std::string("cmd=") + name + (ok ? " rc=0 msg=success" : " rc=-1 msg=failed") + more + "\n");
    };
    if (cmd == "put") clients_[rank].has_put = true;
    if (cmd == "put") return reply("put_result", put(m.get("key"), m.get("value")), "");
    if (cmd == "get") return get(rank, m);
    if (cmd == "publish_name")
        return reply("publish_result", put(published_, m.get("service"), m.get("port")), "");
    if (cmd == "unpublish_name")
        return reply("unpublish_result", published_.erase(std::string(m.get("service"))) > 0, "");
    if (cmd == "lookup_name") {
        const std::string* v = find(published_, m.get("service"));
        return reply("lookup_result", v != nullptr, v != nullptr ? " port=" + *v : "");
    }
    reply("unknown_command", false, "");
}

void PmiServer::get(uint32_t rank, const PmiMessage& m) {
    const std::string key(m.get("key"));
    const std::string* value = find(kvs_, key);
    const int owner = owner_of(key);
    if (value != nullptr || !remote_.get || owner < 0 ||
        static_cast<uint32_t>(owner) >= job_.size + job_.gateways ||
        static_cast<uint32_t>(owner) == job_.world_ranks[rank])
        return reply_get(rank, m, value);
    std::vector<PendingGet>& pending = pending_gets_[key];
    if (pending.empty() && !is_local_gateway(owner) && !remote_.get(static_cast<uint32_t>(owner), key)) {
        pending_gets_.erase(key);
        return reply_get(rank, m, nullptr);
    }
    pending.push_back({rank, m});
}

void PmiServer::reply_get(uint32_t rank, const PmiMessage& m, const std::string* value) {
    if (m.command() == "kvs-get") return reply_pmi2_value(rank, m, "flag", value);
    send_(rank, value != nullptr ? "cmd=get_result rc=0 msg=success value=" + *value + "\n"
                                 : "cmd=get_result rc=-1 msg=failed value=unknown\n");
}

void PmiServer::on_remote_reply(const std::string& key, bool found, std::string_view value) {
    const auto it = pending_gets_.find(key);
    if (it == pending_gets_.end()) return;
    const std::vector<PendingGet> pending = std::move(it->second);
    pending_gets_.erase(it);
    const std::string text(value);
    if (found && owner_of(key) < static_cast<int>(job_.size))
        put(kvs_, key, value); // cached for later requests
    for (const PendingGet& a : pending) reply_get(a.rank, a.request, found ? &text : nullptr);
}

bool PmiServer::is_local_gateway(int owner) const {
    return owner >= static_cast<int>(job_.size) &&
           std::find(job_.world_ranks.begin(), job_.world_ranks.end(), static_cast<uint32_t>(owner)) !=
               job_.world_ranks.end();
}

const std::string* PmiServer::find_put(uint32_t owner, std::string_view name) const {
    return find(kvs_, "zipmpi-" + std::to_string(owner) + "-" + std::string(name));
}

void PmiServer::on_remote_get(uint32_t node, const std::string& key) {
    const std::string* value = find(kvs_, key);
    if (value == nullptr && is_local_gateway(owner_of(key)))
        waiting_nodes_[key].push_back(node);
    else
        remote_.reply(node, key, value);
}

// A gateway has put a key that others wait for.
void PmiServer::complete_pending_gets(const std::string& key) {
    const std::string value = *find(kvs_, key);
    if (const auto local = pending_gets_.find(key); local != pending_gets_.end()) {
        const std::vector<PendingGet> pending = std::move(local->second);
        pending_gets_.erase(local);
        for (const PendingGet& a : pending) reply_get(a.rank, a.request, &value);
    }
    if (const auto nodes = waiting_nodes_.find(key); nodes != waiting_nodes_.end()) {
        const std::vector<uint32_t> all = std::move(nodes->second);
        waiting_nodes_.erase(nodes);
        for (const uint32_t node : all) remote_.reply(node, key, &value);
    }
}

bool PmiServer::put(std::string_view key, std::string_view value) {
    if (!put(kvs_, key, value)) return false;
    if (is_local_gateway(owner_of(key))) complete_pending_gets(std::string(key));
    if (remote_.fence && owner_of(key) < 0) {
        PayloadWriter w;
        fence_pairs_ += w.text(key).text(value).take();
    }
    return true;
}

bool PmiServer::put(std::map<std::string, std::string, std::less<>>& space, std::string_view key,
                    std::string_view value) {
    if (key.empty() || key.size() > pmi_key_limit || value.size() > pmi_value_limit) return false;
    if (stored_bytes_ + key.size() + value.size() > stored_limit) return false;
    stored_bytes_ += key.size() + value.size();
    space[std::string(key)] = value;
    return true;
}

const std::string* PmiServer::find(const std::map<std::string, std::string, std::less<>>& space,
                                   std::string_view key) const {
    const auto it = space.find(key);
    return it == space.end() ? nullptr : &it->second;
}

void PmiServer::enter_barrier(uint32_t rank) {
    if (!is_rank(rank)) return set_protocol_error(rank);
    clients_[rank].in_barrier = true;
    release_barrier_if_full();
}

void PmiServer::rank_ended(uint32_t rank) {
    clients_[rank].ended = true;
    release_barrier_if_full();
}

void PmiServer::reset_client(uint32_t client) {
    clients_[client] = {};
    for (auto& [key, pending] : pending_gets_)
        std::erase_if(pending, [&](const PendingGet& a) { return a.rank == client; });
    std::erase_if(pending_gets_, [](const auto& entry) { return entry.second.empty(); });
}

bool PmiServer::node_in_fence() const {
    for (uint32_t i = 0; i < clients_.size(); ++i)
        if (is_rank(i) && !clients_[i].in_barrier && !clients_[i].ended) return false;
    return true;
}

void PmiServer::release_barrier_if_full() {
    if (!node_in_fence() || fence_sent_) return;
    if (!remote_.fence) return fence_done({});
    for (const Client& c : clients_) fence_sent_ = fence_sent_ || c.in_barrier;
    if (fence_sent_) remote_.fence(std::exchange(fence_pairs_, {}));
}

void PmiServer::fence_done(std::string_view pairs) {
    fence_sent_ = false;
    PayloadReader pair(pairs);
    while (pair.ok() && !pair.is_finished()) {
        const std::string key = pair.text();
        const std::string value = pair.text();
        if (pair.ok()) put(kvs_, key, value);
    }
    for (uint32_t r = 0; r < clients_.size(); ++r) {
        if (!std::exchange(clients_[r].in_barrier, false)) continue;
        if (clients_[r].version == 1) {
            send_(r, "cmd=barrier_out\n");
        } else {
            PmiMessage m;
            m.add("cmd", "kvs-fence");
            if (!barrier_threads_[r].empty()) m.add("thrid", barrier_threads_[r]);
            reply_pmi2(r, m, {{"rc", "0"}});
        }
    }
}

void PmiServer::reply_pmi2(uint32_t rank, const PmiMessage& m,
                           std::vector<std::pair<std::string_view, std::string_view>> fields) {
    const std::string name = std::string(m.command()) + "-response";
    if (m.has("thrid")) fields.insert(fields.begin(), {"thrid", m.get("thrid")});
    fields.insert(fields.begin(), {"cmd", name});
    send_(rank, format_pmi2(fields));
}

void PmiServer::reply_pmi2_value(uint32_t rank, const PmiMessage& m, std::string_view flag,
                                 const std::string* value) {
    if (value != nullptr) {
        reply_pmi2(rank, m, {{flag, "TRUE"}, {"value", *value}, {"rc", "0"}});
    } else {
        reply_pmi2(rank, m, {{flag, "FALSE"}, {"rc", "0"}});
    }
}

void PmiServer::handle_pmi2(uint32_t rank, const PmiMessage& m) {
    const std::string_view cmd = m.command();
    if (cmd == "fullinit") {
        const std::string r = std::to_string(job_.world_ranks[rank]), n = std::to_string(job_.size);
        const std::string app = std::to_string(job_.app_numbers[rank]);
        return reply_pmi2(rank, m,
                          {{"pmi-version", "2"},
                           {"pmi-subversion", "0"},
                           {"rank", r},
                           {"size", n},
                           {"appnum", app},
                           {"debugged", "FALSE"},
                           {"pmiverbose", "FALSE"},
                           {"rc", "0"}});
    }
    if (cmd == "job-getid") return reply_pmi2(rank, m, {{"jobid", job_.id}, {"rc", "0"}});
    if (cmd == "kvs-put") clients_[rank].has_put = true;
    if (cmd == "kvs-put") return reply_pmi2(rank, m, {{"rc", put(m.get("key"), m.get("value")) ? "0" : "1"}});
    if (cmd == "kvs-get") return get(rank, m);
    if (cmd == "kvs-fence") {
        barrier_threads_[rank] = m.get("thrid");
        return enter_barrier(rank);
    }
    if (cmd == "finalize") {
        clients_[rank].initialized = false;
        return reply_pmi2(rank, m, {{"rc", "0"}});
    }
    if (cmd == "abort") return abort_(rank, parse_pmi_int(m.get("exitcode"), 1), m.get("msg"));
    handle_pmi2_info(rank, m);
}

void PmiServer::handle_pmi2_info(uint32_t rank, const PmiMessage& m) {
    const std::string_view cmd = m.command();
    if (cmd == "info-getjobattr") {
        const std::string universe = std::to_string(job_.universe_size);
        return reply_pmi2_value(rank, m, "found",
                                m.get("key") == "universeSize" ? &universe : find(kvs_, m.get("key")));
    }
    if (cmd == "info-putnodeattr") {
        const bool ok = put(node_, m.get("key"), m.get("value"));
        reply_pmi2(rank, m, {{"rc", ok ? "0" : "1"}});
        std::vector<NodeAttrWait> still;
        for (NodeAttrWait& w : std::exchange(node_attr_waits_, {})) {
            const std::string* value = find(node_, w.key);
            if (value == nullptr) {
                still.push_back(std::move(w));
                continue;
            }
            PmiMessage requested;
            requested.add("cmd", "info-getnodeattr");
            if (!w.thread.empty()) requested.add("thrid", w.thread);
            reply_pmi2_value(w.rank, requested, "found", value);
        }
        node_attr_waits_ = std::move(still);
        return;
    }
    if (cmd == "info-getnodeattr") {
        const std::string* value = find(node_, m.get("key"));
        if (value == nullptr && m.get("wait") == "TRUE") {
            node_attr_waits_.push_back({rank, std::string(m.get("key")), std::string(m.get("thrid"))});
            return;
        }
        return reply_pmi2_value(rank, m, "found", value);
    }
    reply_pmi2(rank, m, {{"rc", "1"}, {"errmsg", "this launcher does not support the command"}});
}

} // namespace zipmpi::launch
