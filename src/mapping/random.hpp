// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Pseudorandom numbers, reproducible on all platforms (SplitMix64).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace zipmpi::mapping {

class Random {
  public:
    explicit Random(uint64_t seed)
        : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    uint32_t below(uint32_t end) { return static_cast<uint32_t>((next() >> 32) * end >> 32); }
    template <class T>
    void shuffle(std::vector<T>& list) {
        for (uint32_t i = static_cast<uint32_t>(list.size()); i > 1; --i)
            std::swap(list[i - 1], list[below(i)]);
    }

  private:
    uint64_t state_;
};

} // namespace zipmpi::mapping
