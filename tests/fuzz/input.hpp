// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bytes of the fuzzer, taken piece by piece. After the end take() returns less, and byte() returns 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace zipmpi {

class Input {
  public:
    Input(const uint8_t* data, size_t size)
        : rest_(reinterpret_cast<const std::byte*>(data), size) {}
    [[nodiscard]] bool empty() const { return rest_.empty(); }
    std::span<const std::byte> take(size_t n) {
        const auto taken = rest_.first(std::min(n, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    uint8_t byte() {
        const auto b = take(1);
        return b.empty() ? uint8_t{0} : static_cast<uint8_t>(b[0]);
    }

    // Less than `limit`, and now and then any number.
    uint64_t number(uint8_t limit) {
        const uint8_t kind = byte();
        if (kind < 240) return kind % limit;
        uint64_t value = 0;
        const auto bytes = take(sizeof value);
        if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }

  private:
    std::span<const std::byte> rest_;
};

} // namespace zipmpi
