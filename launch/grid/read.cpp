// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The TOML parser throws exceptions; they end here.
#include "launch/grid/grid_file.hpp"
#include "launch/mpiexec/host_choice.hpp"

#include "base/words.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <initializer_list>
#include <set>
#include <toml++/toml.h>

namespace zipmpi::launch {
namespace {

constexpr int64_t most_slots = 1 << 16;

// Thrown within this file only.
struct Wrong {
    Problem problem;
};

class GridReader {
  public:
    GridReader(std::string path, GridFile& out)
        : path_(std::move(path))
        , out_(out) {}

    void read(const toml::table& all) {
        only(all, "the file", {"cluster", "gateway"});
        for (const toml::table* t : tables(all, "cluster")) read_cluster(*t);
        for (const toml::table* t : tables(all, "gateway")) read_gateway(*t);
        if (out_.clusters.empty())
            wrong(all, "it has no clusters", "write a [[cluster]] with a name and hosts for each");
        if (out_.clusters.size() > 1 && out_.gateways.empty())
            wrong(all, "it has several clusters and no gateways",
                  "write a [[gateway]] with the host that joins them");
        for (const auto& [link, node] : links_) check_link(*link, *node);
    }

  private:
    [[noreturn]] void wrong(const toml::node& at, const std::string& why, const std::string& todo) const {
        const auto line = at.source().begin.line;
        throw Wrong{{"the description of the grid is not valid",
                     path_ + (line != 0 ? ", line " + std::to_string(line) : std::string()), why, todo}};
    }

    void only(const toml::table& t, const std::string& what, std::initializer_list<const char*> known) const {
        for (const auto& [key, value] : t) {
            const std::string name(key.str());
            if (std::ranges::find(known, name) != known.end()) continue;
            std::string all;
            const char* meant = nullptr;
            for (const char* k : known) {
                all += (all.empty() ? "" : ", ") + std::string(k);
                if (meant == nullptr && edit_distance(name, k) < 3) meant = k;
            }
            wrong(value, what + " has the unknown key '" + name + "'",
                  (meant != nullptr ? std::string("did you mean ") + meant + "? known are " : "known are ") +
                      all);
        }
    }

    [[nodiscard]] std::vector<const toml::table*> tables(const toml::table& t, const char* key) const {
        std::vector<const toml::table*> found;
        const toml::node* node = t.get(key);
        if (node == nullptr) return found;
        if (const toml::table* one = node->as_table()) return {one};
        const toml::array* list = node->as_array();
        for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (!(*list)[i].is_table())
                wrong(*node, std::string(key) + " is not a table", "write [[" + std::string(key) + "]]");
            found.push_back((*list)[i].as_table());
        }
        if (list == nullptr)
            wrong(*node, std::string(key) + " is not a table", "write [[" + std::string(key) + "]]");
        return found;
    }

    [[nodiscard]] std::string text(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        const auto value = node->value<std::string>();
        if (!node->is_string() || !value)
            wrong(*node, std::string(key) + " is not a text", "write " + std::string(key) + " = \"...\"");
        return *value;
    }

    // One text, or a list of them.
    [[nodiscard]] std::vector<std::string> texts(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        if (node->is_string()) return {text(t, key)};
        std::vector<std::string> all;
        const toml::array* list = node->as_array();
        for (size_t i = 0; list != nullptr && i < list->size(); ++i)
            all.push_back((*list)[i].is_string() ? *(*list)[i].value<std::string>() : std::string());
        if (list == nullptr || std::ranges::count(all, std::string()) != 0)
            wrong(*node, std::string(key) + " is not a list of texts",
                  "write " + std::string(key) + " = [\"...\", \"...\"]");
        return all;
    }

    [[nodiscard]] bool yes(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node != nullptr && !node->is_boolean())
            wrong(*node, std::string(key) + " is neither true nor false",
                  "write " + std::string(key) + " = true");
        return node != nullptr && *node->value<bool>();
    }

    void read_cluster(const toml::table& t) {
        only(t, "a cluster", {"name", "hosts", "hostfile", "slurm", "agent", "started_by"});
        GridFile::Cluster c;
        c.name = text(t, "name");
        if (c.name.empty() || c.name.find_first_of(" \t-") == 0 || c.name.find(' ') != std::string::npos)
            wrong(t, "a cluster has no name, or one with blanks", "write name = \"blue\"");
        for (const auto& other : out_.clusters)
            if (other.name == c.name) wrong(t, "two clusters are named " + c.name, "give each its own name");
        read_hosts(t, c);
        c.agent = text(t, "agent");
        if (const std::string job = text(t, "slurm"); !job.empty() && c.agent.empty())
            c.agent = "srun --jobid=" + job + " --overlap --nodes=1 --ntasks=1 --nodelist={host}";
        const std::string by = text(t, "started_by");
        if (!by.empty() && by != "gateway" && by != "mpiexec")
            wrong(*t.get("started_by"), "'" + by + "' starts no hosts",
                  "write started_by = \"gateway\" or \"mpiexec\"");
        c.direct = by == "mpiexec";
        out_.clusters.push_back(std::move(c));
    }

    void read_hosts(const toml::table& t, GridFile::Cluster& c) const {
        std::string list;
        for (const std::string& host : texts(t, "hosts")) list += (list.empty() ? "" : ",") + host;
        const std::string file = text(t, "hostfile");
        if (list.empty() == file.empty())
            wrong(t, "cluster " + c.name + " needs either hosts or a hostfile",
                  "write hosts = [\"node1:4\", \"node2:4\"]");
        std::string bad;
        Problem why;
        if (!list.empty() && list.find('[') != std::string::npos && list[0] != '[') {
            if (!parse_slurm(list, {}, c.hosts, bad))
                wrong(*t.get("hosts"), "'" + bad + "' is not a list of hosts",
                      "write for example hosts = \"n[1-4]\"");
        } else if (!list.empty()) {
            if (!parse_host_option(list, c.hosts, bad))
                wrong(*t.get("hosts"), "'" + bad + "' is not a host",
                      "write hosts = [\"node1:4\", \"node2:4\"]");
        } else {
            const std::string folder =
                path_.substr(0, path_.rfind('/') == std::string::npos ? 0 : path_.rfind('/') + 1);
            if (!read_host_file(file[0] == '/' ? file : folder + file, c.hosts, why)) throw Wrong{why};
        }
    }

    uint32_t cluster_named(const toml::node& at, const std::string& name) const {
        for (uint32_t c = 0; c < out_.clusters.size(); ++c)
            if (out_.clusters[c].name == name) return c;
        wrong(at, "there is no cluster named '" + name + "'", "name one that has a [[cluster]] in this file");
    }

    void read_gateway(const toml::table& t) {
        only(t, "a gateway", {"host", "cluster", "clusters", "slots", "agent", "devices", "link"});
        GridFile::Gateway g;
        g.host = text(t, "host");
        HostList one;
        std::string bad;
        if (!parse_host_option(g.host, one, bad) || one.size() != 1 || one[0].name != g.host)
            wrong(t, "a gateway has no host", "write host = \"zip1\"");
        const char* key = t.contains("clusters") ? "clusters" : "cluster";
        for (const std::string& name : texts(t, key))
            g.attached.push_back({cluster_named(*t.get(key), name), {}});
        if (g.attached.empty() || (t.contains("clusters") && t.contains("cluster")))
            wrong(t, "gateway " + g.host + " needs either cluster or clusters",
                  "write clusters = [\"blue\", \"red\"]");
        read_devices(t, g);
        if (const toml::node* slots = t.get("slots")) {
            const auto value = slots->value<int64_t>();
            if (!slots->is_integer() || !value || *value < 0 || *value > most_slots)
                wrong(*slots, "slots is not a number of ranks", "write slots = 4, or leave it out for none");
            g.slots = static_cast<uint32_t>(*value);
        }
        g.agent = text(t, "agent");
        for (const auto& a : g.attached)
            for (const Host& h : out_.clusters[a.cluster].hosts)
                if (h.name == g.host)
                    wrong(t,
                          g.host + " is also listed in the hosts of cluster " + out_.clusters[a.cluster].name,
                          "name it only here, with slots = N for ranks on it");
        for (const toml::table* l : tables(t, "link")) read_link(*l, g);
        out_.gateways.push_back(std::move(g));
    }

    void read_devices(const toml::table& t, GridFile::Gateway& g) const {
        const toml::node* node = t.get("devices");
        if (node == nullptr) return;
        if (node->is_string() && g.attached.size() == 1) {
            g.attached[0].devices = text(t, "devices");
            return;
        }
        const toml::table* per_cluster = node->as_table();
        if (per_cluster == nullptr)
            wrong(*node, "devices does not say which cluster they lead to",
                  "write devices = { " + out_.clusters[g.attached[0].cluster].name + " = \"eth0\" }");
        for (const auto& [name, value] : *per_cluster) {
            const uint32_t cluster = cluster_named(value, std::string(name.str()));
            const auto at = std::ranges::find(g.attached, cluster, &GridFile::Attached::cluster);
            if (at == g.attached.end())
                wrong(value, "gateway " + g.host + " is not in cluster " + std::string(name.str()),
                      "add it to clusters");
            at->devices = text(*per_cluster, std::string(name.str()).c_str());
        }
    }

    void read_link(const toml::table& t, GridFile::Gateway& g) {
        only(t, "a link", {"to", "listen", "connect", "untrusted"});
        GridFile::Link l{text(t, "to"), text(t, "listen"), text(t, "connect"), yes(t, "untrusted")};
        if (l.to.empty() || l.listen.empty())
            wrong(t, "a link of gateway " + g.host + " needs to and listen",
                  "write link = { to = \"gred\", listen = \"192.0.2.1:0\" } at the gateway that listens");
        for (const char* key : {"listen", "connect"})
            if (const std::string& address = key[0] == 'l' ? l.listen : l.connect;
                !address.empty() && !numeric(address, key[0] == 'l'))
                wrong(*t.get(key), "'" + address + "' is not a numeric address with a port",
                      "write for example \"192.0.2.1:5000\"; port 0 to listen on any");
        g.links.push_back(l);
        links_.emplace_back(std::make_unique<GridFile::Link>(l), &t);
    }

    static bool numeric(const std::string& address, bool any_port) {
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

    void check_link(const GridFile::Link& link, const toml::node& at) const {
        if (std::ranges::find(out_.gateways, link.to, &GridFile::Gateway::host) == out_.gateways.end())
            wrong(at, "there is no gateway on host '" + link.to + "'",
                  "name the host of another [[gateway]]");
    }

    std::string path_;
    GridFile& out_;
    std::vector<std::pair<std::unique_ptr<GridFile::Link>, const toml::node*>> links_;
};

} // namespace

bool parse_grid_file(const std::string& text, const std::string& path, GridFile& out, Problem& why) {
    try {
        const toml::table all = toml::parse(text, path);
        GridReader(path, out).read(all);
        return true;
    } catch (const toml::parse_error& e) {
        why = {"the description of the grid is not TOML",
               path + ", line " + std::to_string(e.source().begin.line), std::string(e.description()),
               "correct it there; docs/guide/bridge.md has an example"};
    } catch (const Wrong& w) {
        why = w.problem;
    }
    return false;
}

bool read_grid_file(const std::string& path, GridFile& out, Problem& why) {
    std::string text;
    return read_whole_file(path, "the description of the grid", text, why) &&
           parse_grid_file(text, path, out, why);
}

} // namespace zipmpi::launch
