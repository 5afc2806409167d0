// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi/pmi_store.hpp"

#include "launch/pmi/pmi_message.hpp"

namespace zipmpi::launch {
namespace {

constexpr size_t stored_limit = 256U << 20; // bytes of all keys and values of a job

} // namespace

void PmiStore::put_unlimited(Space space, const std::string& key, std::string value) {
    spaces_[static_cast<size_t>(space)][key] = std::move(value);
}

bool PmiStore::put(Space space, std::string_view key, std::string_view value) {
    if (key.empty() || key.size() > pmi_key_limit || value.size() > pmi_value_limit) return false;
    if (stored_bytes_ + key.size() + value.size() > stored_limit) return false;
    stored_bytes_ += key.size() + value.size();
    spaces_[static_cast<size_t>(space)][std::string(key)] = value;
    return true;
}

const std::string* PmiStore::find(Space space, std::string_view key) const {
    const Map& map = spaces_[static_cast<size_t>(space)];
    const auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
}

bool PmiStore::erase(Space space, std::string_view key) {
    return spaces_[static_cast<size_t>(space)].erase(std::string(key)) > 0;
}

} // namespace zipmpi::launch
