// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Keys and values of a job on one node, in separate spaces with a common limit of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace zipmpi::launch {

class PmiStore {
  public:
    enum class Space : size_t { keys, node_attributes, published_names };

    void put_unlimited(Space space, const std::string& key, std::string value); // of the launcher
    // Returns false if the key or the value is too long, or the store is full.
    bool put(Space space, std::string_view key, std::string_view value);
    [[nodiscard]] const std::string* find(Space space, std::string_view key) const; // null: none
    bool erase(Space space, std::string_view key);

  private:
    using Map = std::map<std::string, std::string, std::less<>>;
    std::array<Map, 3> spaces_;
    size_t stored_bytes_ = 0;
};

} // namespace zipmpi::launch
