// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace zipmpi {
namespace {

constexpr size_t block_bytes = 64;

constexpr uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

void mix(State& state, const uint8_t* block) {
    uint32_t w[64];
    for (size_t i = 0; i < 16; ++i)
        w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
               uint32_t{block[4 * i + 2]} << 8 | uint32_t{block[4 * i + 3]};
    for (size_t i = 16; i < 64; ++i) {
        const uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    State s = state;
    for (size_t i = 0; i < 64; ++i) {
        const uint32_t sum1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
        const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const uint32_t first = s[7] + sum1 + choice + round_constants[i] + w[i];
        const uint32_t sum0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
        const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        s = {first + sum0 + majority, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (size_t i = 0; i < state.size(); ++i) state[i] += s[i];
    explicit_bzero(w, sizeof w);
}

// Reads parts of a message. Wipes its copies of them: they may be keys.
class Hasher {
  public:
    Hasher() = default;
    Hasher(const Hasher&) = delete;
    Hasher& operator=(const Hasher&) = delete;
    ~Hasher() { explicit_bzero(block_, sizeof block_); }

    Hasher& add(std::string_view bytes) {
        total_ += bytes.size();
        while (!bytes.empty()) {
            const size_t n = std::min(bytes.size(), block_bytes - used_);
            std::memcpy(block_ + used_, bytes.data(), n);
            bytes.remove_prefix(n);
            used_ += n;
            if (used_ == block_bytes) mix_block();
        }
        return *this;
    }
    Digest finish() {
        const uint64_t bits = total_ * 8;
        add({"\x80", 1});
        while (used_ != block_bytes - sizeof bits) add({"\0", 1});
        for (size_t i = 0; i < sizeof bits; ++i)
            block_[used_ + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
        mix_block();
        Digest digest{};
        for (size_t i = 0; i < digest.size(); ++i)
            digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
        return digest;
    }

  private:
    void mix_block() {
        mix(state_, block_);
        used_ = 0;
    }
    State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t block_[block_bytes];
    size_t used_ = 0;
    uint64_t total_ = 0;
};

} // namespace

Digest sha256(std::string_view bytes) { return Hasher().add(bytes).finish(); }

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
    const Digest short_key = key.size() > block_bytes ? sha256(key) : Digest{};
    if (key.size() > block_bytes) key = view(short_key);
    const auto padded_key = [&](char fill, char(&out)[block_bytes]) {
        std::memset(out, fill, block_bytes);
        for (size_t i = 0; i < key.size(); ++i) out[i] = static_cast<char>(out[i] ^ key[i]);
        return std::string_view(out, block_bytes);
    };
    char pad[block_bytes];
    const Digest inner = Hasher().add(padded_key('\x36', pad)).add(bytes).finish();
    const Digest outer = Hasher().add(padded_key('\x5c', pad)).add(view(inner)).finish();
    explicit_bzero(pad, sizeof pad);
    return outer;
}

bool same_digest(const Digest& a, const Digest& b) {
    unsigned difference = 0;
    for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
    return difference == 0;
}

} // namespace zipmpi
