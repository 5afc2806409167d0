// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests for keys that are not known yet: of local clients, and of other nodes for keys of local gateways.
#pragma once

#include "launch/pmi/pmi_message.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zipmpi::launch {

class PendingGets {
  public:
    struct Get {
        uint32_t client;
        PmiMessage request;
    };

    // Returns true if it is the first one for this key.
    bool add(const std::string& key, Get get);
    [[nodiscard]] std::vector<Get> take(const std::string& key);
    template <class Matches> // of keys
    [[nodiscard]] std::vector<Get> take_if(Matches matches) {
        std::vector<Get> taken;
        for (auto of_key = gets_.begin(); of_key != gets_.end();) {
            if (!matches(of_key->first)) {
                ++of_key;
                continue;
            }
            taken.insert(taken.end(), of_key->second.begin(), of_key->second.end());
            of_key = gets_.erase(of_key);
        }
        return taken;
    }
    void drop_client(uint32_t client);

    void add_node(const std::string& key, uint32_t node) { nodes_[key].push_back(node); }
    [[nodiscard]] std::vector<uint32_t> take_nodes(const std::string& key);

  private:
    std::map<std::string, std::vector<Get>> gets_;       // by key
    std::map<std::string, std::vector<uint32_t>> nodes_; // by key
};

} // namespace zipmpi::launch
