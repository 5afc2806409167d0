// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Objects that a tool references by address; an invalid address is detected.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

namespace zipmpi::core::tool {

template <class T>
class Registry {
  public:
    T* add(std::unique_ptr<T> object) {
        T* const address = object.get();
        objects_.emplace(address, std::move(object));
        return address;
    }
    [[nodiscard]] bool has(const T* address) const { return objects_.count(address) != 0; }
    bool remove(const T* address) { return objects_.erase(address) != 0; }
    void clear() { objects_.clear(); }
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& entry : objects_) visit(*entry.second);
    }
    template <class Test>
    void remove_if(const Test& test) {
        std::erase_if(objects_, [&](const auto& entry) { return test(*entry.second); });
    }

  private:
    std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

} // namespace zipmpi::core::tool
