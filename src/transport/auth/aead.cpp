// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/aead.hpp"

#include "base/auth.hpp"
#include "transport/auth/key.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <openssl/evp.h>
#include <unordered_map>

namespace zipmpi::transport::auth {
namespace {

struct CipherDeleter {
    void operator()(EVP_CIPHER_CTX* c) const { EVP_CIPHER_CTX_free(c); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, CipherDeleter>;

const unsigned char* in(std::span<const std::byte> s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}

class AesGcm final : public Aead {
  public:
    explicit AesGcm(Key key) { std::memcpy(key_.data(), key.data(), key_.size()); }

    bool seal(const AeadContext& about, std::span<std::byte> head, std::span<const std::byte> data,
              std::byte* out, uint8_t (&tag)[wire::aead_tag_bytes]) override {
        EVP_CIPHER_CTX* const c = begin(about, sealing_, true);
        auto* const in_place = reinterpret_cast<unsigned char*>(head.data());
        int n = 0;
        return c != nullptr &&
               (head.empty() ||
                EVP_EncryptUpdate(c, in_place, &n, in_place, static_cast<int>(head.size())) == 1) &&
               (data.empty() || EVP_EncryptUpdate(c, reinterpret_cast<unsigned char*>(out), &n, in(data),
                                                  static_cast<int>(data.size())) == 1) &&
               EVP_EncryptFinal_ex(c, tag, &n) == 1 &&
               EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, sizeof tag, tag) == 1;
    }

    bool open(const AeadContext& about, AeadSegment first, AeadSegment second,
              const uint8_t (&tag)[wire::aead_tag_bytes]) override {
        EVP_CIPHER_CTX* const c = begin(about, opening_, false);
        uint8_t expected[wire::aead_tag_bytes];
        std::memcpy(expected, tag, sizeof expected);
        unsigned char rest[16];
        int n = 0;
        const auto opened = [&](const AeadSegment& part) {
            return part.from.empty() ||
                   EVP_DecryptUpdate(c, reinterpret_cast<unsigned char*>(part.to), &n, in(part.from),
                                     static_cast<int>(part.from.size())) == 1;
        };
        return c != nullptr && opened(first) && opened(second) &&
               EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, sizeof expected, expected) == 1 &&
               EVP_DecryptFinal_ex(c, rest, &n) == 1;
    }

  private:
    using Contexts = std::unordered_map<uint64_t, Context>; // by from and to

    // One key per ordered pair of ranks, so that equal sequence numbers never repeat a pair of key and nonce.
    Context make(const AeadContext& about, bool seals) const {
        struct {
            char purpose[16];
            int32_t from, to;
        } const text{"zipmpi seal 1", about.from, about.to};
        const Digest key = mac_of(key_, message_bytes(text));
        Context c(EVP_CIPHER_CTX_new());
        if (c == nullptr ||
            EVP_CipherInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, key.data(), nullptr, seals ? 1 : 0) != 1)
            return nullptr;
        return c;
    }

    // Initialized up to the associated data.
    EVP_CIPHER_CTX* begin(const AeadContext& about, Contexts& contexts, bool seals) {
        Context& c =
            contexts[uint64_t{static_cast<uint32_t>(about.from)} << 32 | static_cast<uint32_t>(about.to)];
        if (c == nullptr) c = make(about, seals);
        unsigned char nonce[12] = {};
        std::memcpy(nonce + 4, &about.sequence, sizeof about.sequence);
        int n = 0;
        const bool ready =
            c != nullptr &&
            EVP_CipherInit_ex(c.get(), nullptr, nullptr, nullptr, nonce, seals ? 1 : 0) == 1 &&
            EVP_CipherUpdate(c.get(), nullptr, &n, in(about.aad), static_cast<int>(about.aad.size())) == 1;
        return ready ? c.get() : nullptr;
    }

    std::array<uint8_t, wire::job_key_bytes> key_{};
    Contexts sealing_, opening_;
};

} // namespace
} // namespace zipmpi::transport::auth

extern "C" [[gnu::visibility("default")]] zipmpi::transport::auth::Aead*
zipmpi_ucx_open_sealer_2(std::span<const uint8_t, zipmpi::wire::job_key_bytes> key) {
    return new zipmpi::transport::auth::AesGcm(key);
}
