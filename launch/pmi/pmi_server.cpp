// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi/pmi_server.hpp"

#include "launch/protocol/control_frame.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::launch {
namespace {

using Space = PmiStore::Space;

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
    , remote_(std::move(remote))
    , clients_(job_.world_ranks.size()) {
    store_.put_unlimited(Space::keys, "PMI_process_mapping", job_.mapping);
    for (const uint32_t id : job_.world_ranks)
        if (id < job_.size) fence_.add_member();
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
    if (cmd == "barrier_in") return enter_fence(rank);
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
    if (cmd == "put") return reply("put_result", put(rank, m), "");
    if (cmd == "get") return get(rank, m);
    if (cmd == "publish_name")
        return reply("publish_result", store_.put(Space::published_names, m.get("service"), m.get("port")),
                     "");
    if (cmd == "unpublish_name")
        return reply("unpublish_result", store_.erase(Space::published_names, m.get("service")), "");
    if (cmd == "lookup_name") {
        const std::string* v = store_.find(Space::published_names, m.get("service"));
        return reply("lookup_result", v != nullptr, v != nullptr ? " port=" + *v : "");
    }
    reply("unknown_command", false, "");
}

void PmiServer::get(uint32_t rank, const PmiMessage& m) {
    const std::string key(m.get("key"));
    const std::string* value = store_.find(Space::keys, key);
    const int owner = owner_of(key);
    if (value != nullptr || !remote_.get || owner < 0 ||
        static_cast<uint32_t>(owner) >= job_.size + job_.gateways ||
        static_cast<uint32_t>(owner) == job_.world_ranks[rank] ||
        failed_owners_.count(static_cast<uint32_t>(owner)) != 0)
        return reply_get(rank, m, value);
    if (!pending_gets_.add(key, {rank, m}) || is_local_gateway(owner) ||
        remote_.get(static_cast<uint32_t>(owner), key)) // may reply at once, for a node that has failed
        return;
    for (const PendingGets::Get& g : pending_gets_.take(key)) reply_get(g.client, g.request, nullptr);
}

void PmiServer::reply_get(uint32_t rank, const PmiMessage& m, const std::string* value) {
    if (m.command() == "kvs-get") return send_(rank, pmi2_value_response(m, "flag", value));
    send_(rank, value != nullptr ? "cmd=get_result rc=0 msg=success value=" + *value + "\n"
                                 : "cmd=get_result rc=-1 msg=failed value=unknown\n");
}

void PmiServer::on_remote_reply(const std::string& key, bool found, std::string_view value) {
    const std::vector<PendingGets::Get> pending = pending_gets_.take(key);
    if (pending.empty()) return;
    const std::string text(value);
    if (found && owner_of(key) < static_cast<int>(job_.size))
        store_.put(Space::keys, key, value); // cached for later requests
    for (const PendingGets::Get& g : pending) reply_get(g.client, g.request, found ? &text : nullptr);
}

void PmiServer::owner_failed(uint32_t owner) {
    failed_owners_.insert(owner);
    for (const PendingGets::Get& g : pending_gets_.take_if(
             [&](const std::string& key) { return owner_of(key) == static_cast<int>(owner); }))
        reply_get(g.client, g.request, nullptr);
}

bool PmiServer::is_local_gateway(int owner) const {
    return owner >= static_cast<int>(job_.size) &&
           std::find(job_.world_ranks.begin(), job_.world_ranks.end(), static_cast<uint32_t>(owner)) !=
               job_.world_ranks.end();
}

const std::string* PmiServer::find_put(uint32_t owner, std::string_view name) const {
    return store_.find(Space::keys, "zipmpi-" + std::to_string(owner) + "-" + std::string(name));
}

void PmiServer::on_remote_get(uint32_t node, const std::string& key) {
    const std::string* value = store_.find(Space::keys, key);
    if (value == nullptr && is_local_gateway(owner_of(key)))
        pending_gets_.add_node(key, node);
    else
        remote_.reply(node, key, value);
}

// A gateway has put a key that others wait for.
void PmiServer::complete_pending_gets(const std::string& key) {
    const std::string value = *store_.find(Space::keys, key);
    for (const PendingGets::Get& g : pending_gets_.take(key)) reply_get(g.client, g.request, &value);
    for (const uint32_t node : pending_gets_.take_nodes(key)) remote_.reply(node, key, &value);
}

bool PmiServer::put(uint32_t rank, const PmiMessage& m) {
    clients_[rank].has_put = true;
    const std::string_view key = m.get("key");
    if (!store_.put(Space::keys, key, m.get("value"))) return false;
    if (is_local_gateway(owner_of(key))) complete_pending_gets(std::string(key));
    if (remote_.fence && owner_of(key) < 0) {
        PayloadWriter w;
        fence_.add_pairs(w.text(key).text(m.get("value")).take());
    }
    return true;
}

void PmiServer::enter_fence(uint32_t rank) {
    if (!fence_.has_member(rank)) return set_protocol_error(rank);
    fence_.enter(rank);
    release_fence_if_complete();
}

void PmiServer::rank_ended(uint32_t rank) {
    fence_.end(rank);
    release_fence_if_complete();
}

void PmiServer::reset_client(uint32_t client) {
    clients_[client] = {};
    pending_gets_.drop_client(client);
}

void PmiServer::release_fence_if_complete() {
    if (!fence_.is_complete() || fence_.is_sent()) return;
    if (!remote_.fence) return fence_done({});
    if (fence_.mark_sent()) return remote_.fence(fence_.take_pairs());
    if (remote_.absent) remote_.absent();
}

void PmiServer::fence_done(std::string_view pairs) {
    const std::vector<uint32_t> waiting = fence_.release();
    PayloadReader pair(pairs);
    while (pair.ok() && !pair.is_finished()) {
        const std::string key = pair.text();
        const std::string value = pair.text();
        if (pair.ok()) store_.put(Space::keys, key, value);
    }
    for (const uint32_t rank : waiting) {
        const Client& c = clients_[rank];
        if (c.version == 1) {
            send_(rank, "cmd=barrier_out\n");
            continue;
        }
        PmiMessage m;
        m.add("cmd", "kvs-fence");
        if (!c.fence_thread.empty()) m.add("thrid", c.fence_thread);
        send_(rank, pmi2_response(m, {{"rc", "0"}}));
    }
}

void PmiServer::handle_pmi2(uint32_t rank, const PmiMessage& m) {
    const std::string_view cmd = m.command();
    using Fields = std::vector<std::pair<std::string_view, std::string_view>>;
    const auto reply = [&](Fields fields) { send_(rank, pmi2_response(m, std::move(fields))); };
    if (cmd == "fullinit") {
        const std::string r = std::to_string(job_.world_ranks[rank]), n = std::to_string(job_.size);
        const std::string app = std::to_string(job_.app_numbers[rank]);
        return reply({{"pmi-version", "2"},
                      {"pmi-subversion", "0"},
                      {"rank", r},
                      {"size", n},
                      {"appnum", app},
                      {"debugged", "FALSE"},
                      {"pmiverbose", "FALSE"},
                      {"rc", "0"}});
    }
    if (cmd == "job-getid") return reply({{"jobid", job_.id}, {"rc", "0"}});
    if (cmd == "kvs-put") return reply({{"rc", put(rank, m) ? "0" : "1"}});
    if (cmd == "kvs-get") return get(rank, m);
    if (cmd == "kvs-fence") {
        clients_[rank].fence_thread = m.get("thrid");
        return enter_fence(rank);
    }
    if (cmd == "finalize") {
        clients_[rank].initialized = false;
        return reply({{"rc", "0"}});
    }
    if (cmd == "abort") return abort_(rank, parse_pmi_int(m.get("exitcode"), 1), m.get("msg"));
    handle_pmi2_info(rank, m);
}

void PmiServer::handle_pmi2_info(uint32_t rank, const PmiMessage& m) {
    const std::string_view cmd = m.command();
    const auto reply = [&](const std::string* value) { send_(rank, pmi2_value_response(m, "found", value)); };
    if (cmd == "info-getjobattr") {
        const std::string universe = std::to_string(job_.universe_size);
        return reply(m.get("key") == "universeSize" ? &universe : store_.find(Space::keys, m.get("key")));
    }
    if (cmd == "info-putnodeattr") return put_node_attribute(rank, m);
    if (cmd == "info-getnodeattr") {
        const std::string* value = store_.find(Space::node_attributes, m.get("key"));
        if (value != nullptr || m.get("wait") != "TRUE") return reply(value);
        return node_attr_waits_.push_back({rank, m});
    }
    send_(rank, pmi2_response(m, {{"rc", "1"}, {"errmsg", "this launcher does not support the command"}}));
}

// Replies to the ranks that wait for it, too.
void PmiServer::put_node_attribute(uint32_t rank, const PmiMessage& m) {
    const bool ok = store_.put(Space::node_attributes, m.get("key"), m.get("value"));
    send_(rank, pmi2_response(m, {{"rc", ok ? "0" : "1"}}));
    for (NodeAttrWait& w : std::exchange(node_attr_waits_, {})) {
        const std::string* value = store_.find(Space::node_attributes, w.request.get("key"));
        if (value != nullptr)
            send_(w.rank, pmi2_value_response(w.request, "found", value));
        else
            node_attr_waits_.push_back(std::move(w));
    }
}

} // namespace zipmpi::launch
