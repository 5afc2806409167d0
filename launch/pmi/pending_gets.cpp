// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi/pending_gets.hpp"

namespace zipmpi::launch {
namespace {

template <class Entries>
std::vector<Entries> take_entries(std::map<std::string, std::vector<Entries>>& from, const std::string& key) {
    const auto it = from.find(key);
    if (it == from.end()) return {};
    std::vector<Entries> all = std::move(it->second);
    from.erase(it);
    return all;
}

} // namespace

bool PendingGets::add(const std::string& key, Get get) {
    std::vector<Get>& all = gets_[key];
    all.push_back(std::move(get));
    return all.size() == 1;
}

std::vector<PendingGets::Get> PendingGets::take(const std::string& key) { return take_entries(gets_, key); }

std::vector<uint32_t> PendingGets::take_nodes(const std::string& key) { return take_entries(nodes_, key); }

void PendingGets::drop_client(uint32_t client) {
    for (auto& [key, all] : gets_) std::erase_if(all, [&](const Get& g) { return g.client == client; });
    std::erase_if(gets_, [](const auto& entry) { return entry.second.empty(); });
}

} // namespace zipmpi::launch
