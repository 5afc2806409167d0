// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The TOML parser throws exceptions; they are caught in this file.
#include "launch/clusters/cluster_file.hpp"
#include "launch/mpiexec/host_selection.hpp"

#include "base/edit_distance.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <initializer_list>
#include <set>
#include <toml++/toml.h>

namespace zipmpi::launch {
namespace {

constexpr int64_t max_slots = 1 << 16;

// Internal to this file.
struct ParseError {
    Diagnostic problem;
};

class ClusterFileReader {
  public:
    ClusterFileReader(std::string path, ClusterFile& out)
        : path_(std::move(path))
        , out_(out) {}

    void read(const toml::table& all) {
        check_keys(all, "the file", {"cluster", "gateway"});
        for (const toml::table* t : read_tables(all, "cluster")) read_cluster(*t);
        for (const toml::table* t : read_tables(all, "gateway")) read_gateway(*t);
        if (out_.clusters.empty()) fail(all, "there is no cluster", "add a [[cluster]] with name and hosts");
        if (out_.clusters.size() > 1 && out_.gateways.empty())
            fail(all, "there are several clusters and no gateway",
                 "add a [[gateway]] with the host that connects them");
        for (const auto& [link, node] : links_) check_link(*link, *node);
    }

  private:
    [[noreturn]] void fail(const toml::node& at, const std::string& why, const std::string& fix) const {
        const auto line = at.source().begin.line;
        throw ParseError{{"the cluster file is not valid",
                          path_ + (line != 0 ? ", line " + std::to_string(line) : std::string()), why, fix}};
    }

    void check_keys(const toml::table& t, const std::string& what,
                    std::initializer_list<const char*> known) const {
        for (const auto& [key, value] : t) {
            const std::string name(key.str());
            if (std::ranges::find(known, name) != known.end()) continue;
            std::string all;
            const char* meant = nullptr;
            for (const char* k : known) {
                all += (all.empty() ? "" : ", ") + std::string(k);
                if (meant == nullptr && edit_distance(name, k) < 3) meant = k;
            }
            fail(value, what + " has the unknown key '" + name + "'",
                 (meant != nullptr ? std::string("did you mean ") + meant + "? valid keys: "
                                   : "valid keys: ") +
                     all);
        }
    }

    [[nodiscard]] std::vector<const toml::table*> read_tables(const toml::table& t, const char* key) const {
        std::vector<const toml::table*> found;
        const toml::node* node = t.get(key);
        if (node == nullptr) return found;
        if (const toml::table* one = node->as_table()) return {one};
        const toml::array* list = node->as_array();
        for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (!(*list)[i].is_table())
                fail(*node, std::string(key) + " is not a table", "write [[" + std::string(key) + "]]");
            found.push_back((*list)[i].as_table());
        }
        if (list == nullptr)
            fail(*node, std::string(key) + " is not a table", "write [[" + std::string(key) + "]]");
        return found;
    }

    [[nodiscard]] std::string read_text(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        const auto value = node->value<std::string>();
        if (!node->is_string() || !value)
            fail(*node, std::string(key) + " is not a string", "write " + std::string(key) + " = \"...\"");
        return *value;
    }

    // A string, or a list of strings.
    [[nodiscard]] std::vector<std::string> read_texts(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        if (node->is_string()) return {read_text(t, key)};
        std::vector<std::string> all;
        const toml::array* list = node->as_array();
        for (size_t i = 0; list != nullptr && i < list->size(); ++i)
            all.push_back((*list)[i].is_string() ? *(*list)[i].value<std::string>() : std::string());
        if (list == nullptr || std::ranges::count(all, std::string()) != 0)
            fail(*node, std::string(key) + " is not a list of strings",
                 "write " + std::string(key) + " = [\"...\", \"...\"]");
        return all;
    }

    [[nodiscard]] bool read_bool(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node != nullptr && !node->is_boolean())
            fail(*node, std::string(key) + " is neither true nor false",
                 "write " + std::string(key) + " = true");
        return node != nullptr && *node->value<bool>();
    }

    [[nodiscard]] double read_speed(const toml::table& t) const {
        const toml::node* node = t.get("speed");
        if (node == nullptr) return 1;
        const auto value = node->value<double>();
        if (!node->is_number() || !value || !is_speed(*value))
            fail(*node, "speed is not a relative speed from 0.001 to 1000", "write speed = 1.5");
        return *value;
    }

    void read_cluster(const toml::table& t) {
        check_keys(t, "a cluster", {"name", "hosts", "hostfile", "slurm", "agent", "started_by", "speed"});
        ClusterFile::ClusterEntry c;
        c.name = read_text(t, "name");
        if (c.name.empty() || c.name.find_first_of(" \t-") == 0 || c.name.find(' ') != std::string::npos)
            fail(t, "a cluster has no name, or one with blanks", "write name = \"blue\"");
        for (const auto& other : out_.clusters)
            if (other.name == c.name)
                fail(t, "two clusters are named " + c.name, "give each cluster its own name");
        read_hosts(t, c);
        for (Host& h : c.hosts) h.speed *= read_speed(t);
        c.agent = read_text(t, "agent");
        if (const std::string job = read_text(t, "slurm"); !job.empty() && c.agent.empty())
            c.agent = "srun --jobid=" + job + " --overlap --nodes=1 --ntasks=1 --nodelist={host}";
        const std::string by = read_text(t, "started_by");
        if (!by.empty() && by != "gateway" && by != "mpiexec")
            fail(*t.get("started_by"), "'" + by + "' is not a valid value of started_by",
                 "write started_by = \"gateway\" or \"mpiexec\"");
        c.direct = by == "mpiexec";
        out_.clusters.push_back(std::move(c));
    }

    void read_hosts(const toml::table& t, ClusterFile::ClusterEntry& c) const {
        std::string list;
        for (const std::string& host : read_texts(t, "hosts")) list += (list.empty() ? "" : ",") + host;
        const std::string file = read_text(t, "hostfile");
        if (list.empty() == file.empty())
            fail(t, "cluster " + c.name + " needs either hosts or a hostfile",
                 "write hosts = [\"node1:4\", \"node2:4\"]");
        std::string bad;
        Diagnostic why;
        if (!list.empty() && list.find('[') != std::string::npos && list[0] != '[') {
            if (!parse_slurm(list, {}, c.hosts, bad))
                fail(*t.get("hosts"), "'" + bad + "' is not a list of hosts",
                     "write for example hosts = \"n[1-4]\"");
        } else if (!list.empty()) {
            if (!parse_host_option(list, c.hosts, bad))
                fail(*t.get("hosts"), "'" + bad + "' is not a host",
                     "write hosts = [\"node1:4\", \"node2:4\"]");
        } else {
            const std::string folder =
                path_.substr(0, path_.rfind('/') == std::string::npos ? 0 : path_.rfind('/') + 1);
            if (!read_host_file(file[0] == '/' ? file : folder + file, c.hosts, why)) throw ParseError{why};
        }
    }

    uint32_t find_cluster(const toml::node& at, const std::string& name) const {
        for (uint32_t c = 0; c < out_.clusters.size(); ++c)
            if (out_.clusters[c].name == name) return c;
        fail(at, "there is no cluster named '" + name + "'", "use the name of a [[cluster]] of this file");
    }

    void read_gateway(const toml::table& t) {
        check_keys(t, "a gateway",
                   {"host", "cluster", "clusters", "slots", "speed", "agent", "devices", "link"});
        ClusterFile::GatewayEntry g;
        g.host = read_text(t, "host");
        HostList one;
        std::string bad;
        if (!parse_host_option(g.host, one, bad) || one.size() != 1 || one[0].name != g.host)
            fail(t, "a gateway has no host", "add host = \"zip1\"");
        const char* key = t.contains("clusters") ? "clusters" : "cluster";
        for (const std::string& name : read_texts(t, key))
            g.attached.push_back({find_cluster(*t.get(key), name), {}});
        if (g.attached.empty() || (t.contains("clusters") && t.contains("cluster")))
            fail(t, "gateway " + g.host + " needs either cluster or clusters",
                 "write clusters = [\"blue\", \"red\"]");
        read_devices(t, g);
        if (const toml::node* slots = t.get("slots")) {
            const auto value = slots->value<int64_t>();
            if (!slots->is_integer() || !value || *value < 0 || *value > max_slots)
                fail(*slots, "slots is not a number of ranks", "write slots = 4, or leave it out for none");
            g.slots = static_cast<uint32_t>(*value);
        }
        g.speed = read_speed(t);
        g.agent = read_text(t, "agent");
        for (const auto& a : g.attached)
            for (const Host& h : out_.clusters[a.cluster].hosts)
                if (h.name == g.host)
                    fail(t,
                         g.host + " is also listed in the hosts of cluster " + out_.clusters[a.cluster].name,
                         "list it only as a gateway, with slots = N for its ranks");
        for (const toml::table* l : read_tables(t, "link")) read_link(*l, g);
        out_.gateways.push_back(std::move(g));
    }

    void read_devices(const toml::table& t, ClusterFile::GatewayEntry& g) const {
        const toml::node* node = t.get("devices");
        if (node == nullptr) return;
        if (node->is_string() && g.attached.size() == 1) {
            g.attached[0].devices = read_text(t, "devices");
            return;
        }
        const toml::table* per_cluster = node->as_table();
        if (per_cluster == nullptr)
            fail(*node, "devices does not name the cluster that they belong to",
                 "write devices = { " + out_.clusters[g.attached[0].cluster].name + " = \"eth0\" }");
        for (const auto& [name, value] : *per_cluster) {
            const uint32_t cluster = find_cluster(value, std::string(name.str()));
            const auto at = std::ranges::find(g.attached, cluster, &ClusterFile::AttachmentSpec::cluster);
            if (at == g.attached.end())
                fail(value, "gateway " + g.host + " is not in cluster " + std::string(name.str()),
                     "add it to clusters");
            at->devices = read_text(*per_cluster, std::string(name.str()).c_str());
        }
    }

    void read_link(const toml::table& t, ClusterFile::GatewayEntry& g) {
        check_keys(t, "a link", {"to", "listen", "connect", "untrusted"});
        ClusterFile::LinkSpec l{read_text(t, "to"), read_text(t, "listen"), read_text(t, "connect"),
                                read_bool(t, "untrusted")};
        if (l.to.empty() || l.listen.empty())
            fail(t, "a link of gateway " + g.host + " needs to and listen",
                 "write link = { to = \"gred\", listen = \"192.0.2.1:0\" } at the gateway that listens");
        for (const char* key : {"listen", "connect"})
            if (const std::string& address = key[0] == 'l' ? l.listen : l.connect;
                !address.empty() && !is_numeric_address(address, key[0] == 'l'))
                fail(*t.get(key), "'" + address + "' is not a numeric address with a port",
                     "write for example \"192.0.2.1:5000\"; with port 0 to listen, any free port is used");
        g.links.push_back(l);
        links_.emplace_back(std::make_unique<ClusterFile::LinkSpec>(l), &t);
    }

    static bool is_numeric_address(const std::string& address, bool any_port) {
        const size_t colon = address.rfind(':');
        if (colon == std::string::npos || colon == 0) return false;
        std::string host = address.substr(0, colon);
        const char* end = address.data() + address.size();
        uint16_t port = 0;
        const auto [at, error] = std::from_chars(address.data() + colon + 1, end, port);
        if (error != std::errc() || at != end || (port == 0 && !any_port)) return false;
        in6_addr bytes{};
        if (host[0] == '[' && host.back() == ']')
            return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &bytes) == 1;
        return inet_pton(AF_INET, host.c_str(), &bytes) == 1;
    }

    void check_link(const ClusterFile::LinkSpec& link, const toml::node& at) const {
        if (std::ranges::find(out_.gateways, link.to, &ClusterFile::GatewayEntry::host) ==
            out_.gateways.end())
            fail(at, "there is no gateway on host '" + link.to + "'", "use the host of another [[gateway]]");
    }

    std::string path_;
    ClusterFile& out_;
    std::vector<std::pair<std::unique_ptr<ClusterFile::LinkSpec>, const toml::node*>> links_;
};

} // namespace

bool parse_cluster_file(const std::string& text, const std::string& path, ClusterFile& out, Diagnostic& why) {
    try {
        const toml::table all = toml::parse(text, path);
        ClusterFileReader(path, out).read(all);
        return true;
    } catch (const toml::parse_error& e) {
        why = {"the cluster file is not valid TOML", path + ", line " + std::to_string(e.source().begin.line),
               std::string(e.description()), "correct the line; docs/guide/multi_cluster.md has an example"};
    } catch (const ParseError& w) {
        why = w.problem;
    }
    return false;
}

bool read_cluster_file(const std::string& path, ClusterFile& out, Diagnostic& why) {
    std::string text;
    return read_whole_file(path, "the cluster file", text, why) && parse_cluster_file(text, path, out, why);
}

} // namespace zipmpi::launch
