// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Intern table: equal values share one reference-counted object.
//
// Threads: any. An object whose last reference is being released is not returned again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace zipmpi::packing {

struct Hash {
    size_t value = 0;
    void add(int64_t word) {
        constexpr uint64_t spread = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
        value = (value ^ (value >> 29) ^ static_cast<uint64_t>(word)) * spread;
    }
};

template <class T, class HashOf, class Equal>
class InternTable {
  public:
    std::shared_ptr<const T> get(T&& value) {
        const size_t hash = HashOf{}(value);
        const std::lock_guard guard(mutex_);
        const auto [first, last] = objects_.equal_range(hash);
        for (auto at = first; at != last; ++at)
            if (std::shared_ptr<const T> existing = at->second.handle.lock();
                existing && Equal{}(*existing, value))
                return existing;
        auto* object = new T(std::move(value));
        std::shared_ptr<const T> handle(object, [this, hash](const T* expired) { drop(hash, expired); });
        objects_.emplace(hash, Entry{object, handle});
        return handle;
    }

    [[nodiscard]] size_t size() {
        const std::lock_guard guard(mutex_);
        return objects_.size();
    }

  private:
    struct Entry {
        const T* object;
        std::weak_ptr<const T> handle;
    };

    void drop(size_t hash, const T* expired) {
        {
            const std::lock_guard guard(mutex_);
            const auto [first, last] = objects_.equal_range(hash);
            for (auto at = first; at != last; ++at) {
                if (at->second.object != expired) continue;
                objects_.erase(at);
                break;
            }
        }
        delete expired; // may drop other objects, so not under the lock
    }

    std::mutex mutex_;
    std::unordered_multimap<size_t, Entry> objects_;
};

} // namespace zipmpi::packing
