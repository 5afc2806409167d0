// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A table in which equal values are one object, kept alive by those who use it.
//
// Threads: any. An object whose last user is just leaving is not given out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace zipmpi::layout {

struct Hash {
    size_t value = 0;
    void add(int64_t word) {
        constexpr uint64_t spread = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
        value = (value ^ (value >> 29) ^ static_cast<uint64_t>(word)) * spread;
    }
};

template <class T, class HashOf, class Equal>
class UniqueTable {
  public:
    std::shared_ptr<const T> get(T&& value) {
        const size_t hash = HashOf{}(value);
        const std::lock_guard hold(mutex_);
        const auto [first, last] = objects_.equal_range(hash);
        for (auto at = first; at != last; ++at)
            if (std::shared_ptr<const T> known = at->second.handle.lock(); known && Equal{}(*known, value))
                return known;
        auto* object = new T(std::move(value));
        std::shared_ptr<const T> handle(object, [this, hash](const T* gone) { drop(hash, gone); });
        objects_.emplace(hash, Entry{object, handle});
        return handle;
    }

    [[nodiscard]] size_t size() {
        const std::lock_guard hold(mutex_);
        return objects_.size();
    }

  private:
    struct Entry {
        const T* object;
        std::weak_ptr<const T> handle;
    };

    void drop(size_t hash, const T* gone) {
        {
            const std::lock_guard hold(mutex_);
            const auto [first, last] = objects_.equal_range(hash);
            for (auto at = first; at != last; ++at) {
                if (at->second.object != gone) continue;
                objects_.erase(at);
                break;
            }
        }
        delete gone; // may drop others: the lock is free again
    }

    std::mutex mutex_;
    std::unordered_multimap<size_t, Entry> objects_;
};

} // namespace zipmpi::layout
