// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/auth/aead.hpp"

#include "base/auth.hpp"
#include "base/function_deleter.hpp"
#include "base/key_schedule.hpp"
#include "transport/auth/key.hpp"
#include "transport/auth/nonce.hpp"

#include <cstring>
#include <memory>
#include <openssl/evp.h>
#include <unordered_map>

namespace zipmpi::transport::auth {
namespace {

using Context = std::unique_ptr<EVP_CIPHER_CTX, FunctionDeleter<EVP_CIPHER_CTX_free>>;

const unsigned char* in(std::span<const std::byte> s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}

class AesGcm final : public Aead {
  public:
    explicit AesGcm(Key key)
        : key_(key)
        , salt_(random_token()) {}

    [[nodiscard]] uint64_t salt() const override { return salt_; }

    bool seal(const AeadContext& about, std::span<std::byte> head, std::span<const std::byte> data,
              std::byte* out, uint8_t (&tag)[wire::aead_tag_bytes]) override {
        Channel& channel = sealing_[about.to];
        if (channel.context == nullptr) channel.context = make(about, true);
        EVP_CIPHER_CTX* const c = channel.context.get();
        auto* const in_place = reinterpret_cast<unsigned char*>(head.data());
        int n = 0;
        return begin(c, about, true) &&
               (head.empty() ||
                EVP_EncryptUpdate(c, in_place, &n, in_place, static_cast<int>(head.size())) == 1) &&
               (data.empty() || EVP_EncryptUpdate(c, reinterpret_cast<unsigned char*>(out), &n, in(data),
                                                  static_cast<int>(data.size())) == 1) &&
               EVP_EncryptFinal_ex(c, tag, &n) == 1 &&
               EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, sizeof tag, tag) == 1;
    }

    bool open(const AeadContext& about, AeadSegment first, AeadSegment second,
              const uint8_t (&tag)[wire::aead_tag_bytes]) override {
        const auto known = opening_.find(about.from);
        if (known != opening_.end() && known->second.salt == about.salt)
            return open(known->second.context.get(), about, first, second, tag);
        // Kept only if the text is authentic: others can invent senders and salts.
        Context fresh = make(about, false);
        if (!open(fresh.get(), about, first, second, tag)) return false;
        opening_[about.from] = {about.salt, std::move(fresh)};
        return true;
    }

  private:
    struct Channel { // to or from one rank
        uint64_t salt = 0;
        Context context;
    };
    using Channels = std::unordered_map<int32_t, Channel>;

    // One key per ordered pair of ranks and sending process, so that equal sequence numbers never repeat a
    // pair of key and nonce.
    Context make(const AeadContext& about, bool seals) const {
        struct {
            int32_t from, to;
            uint64_t salt;
        } const text{about.from, about.to, about.salt};
        KeyBytes key = derive_key(key_, KeyPurpose::end_to_end_pair, message_bytes(text));
        Context c(EVP_CIPHER_CTX_new());
        const bool ready = c != nullptr && EVP_CipherInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, key.data(),
                                                             nullptr, seals ? 1 : 0) == 1;
        wipe(key);
        return ready ? std::move(c) : nullptr;
    }

    // Initializes the context up to the associated data.
    static bool begin(EVP_CIPHER_CTX* c, const AeadContext& about, bool seals) {
        unsigned char nonce[12] = {};
        std::memcpy(nonce + 4, &about.sequence, sizeof about.sequence);
        int n = 0;
        return c != nullptr && EVP_CipherInit_ex(c, nullptr, nullptr, nullptr, nonce, seals ? 1 : 0) == 1 &&
               EVP_CipherUpdate(c, nullptr, &n, in(about.aad), static_cast<int>(about.aad.size())) == 1;
    }

    static bool open(EVP_CIPHER_CTX* c, const AeadContext& about, const AeadSegment& first,
                     const AeadSegment& second, const uint8_t (&tag)[wire::aead_tag_bytes]) {
        if (!begin(c, about, false)) return false;
        uint8_t expected[wire::aead_tag_bytes];
        std::memcpy(expected, tag, sizeof expected);
        unsigned char rest[16];
        int n = 0;
        const auto opened = [&](const AeadSegment& part) {
            return part.from.empty() ||
                   EVP_DecryptUpdate(c, reinterpret_cast<unsigned char*>(part.to), &n, in(part.from),
                                     static_cast<int>(part.from.size())) == 1;
        };
        return opened(first) && opened(second) &&
               EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, sizeof expected, expected) == 1 &&
               EVP_DecryptFinal_ex(c, rest, &n) == 1;
    }

    Key key_; // in the node segment
    uint64_t salt_;
    Channels sealing_, opening_;
};

} // namespace
} // namespace zipmpi::transport::auth

extern "C" [[gnu::visibility("default")]] zipmpi::transport::auth::Aead*
zipmpi_ucx_open_sealer_3(zipmpi::transport::auth::Key key) {
    return new zipmpi::transport::auth::AesGcm(key);
}
