// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_crypto.so.
#include "base/crypto.hpp"
#include "base/function_deleter.hpp"

#include <cstring>
#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace zipmpi {
namespace {

using KeyPair = std::unique_ptr<EVP_PKEY, FunctionDeleter<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FunctionDeleter<EVP_PKEY_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FunctionDeleter<EVP_CIPHER_CTX_free>>;

const unsigned char* in(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

class X25519 final : public KeyExchange {
  public:
    bool generate() {
        const KeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nullptr));
        EVP_PKEY* made = nullptr;
        size_t size = public_.size();
        if (context == nullptr || EVP_PKEY_keygen_init(context.get()) != 1 ||
            EVP_PKEY_keygen(context.get(), &made) != 1)
            return false;
        pair_.reset(made);
        return EVP_PKEY_get_raw_public_key(made, public_.data(), &size) == 1 && size == public_.size();
    }
    [[nodiscard]] const PublicKey& public_key() const override { return public_; }
    bool agree(const PublicKey& peer, KeyBytes& shared) override {
        const KeyPair other(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, peer.data(), peer.size()));
        const KeyContext context(EVP_PKEY_CTX_new(pair_.get(), nullptr));
        size_t size = shared.size();
        return other != nullptr && context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
               EVP_PKEY_derive_set_peer(context.get(), other.get()) == 1 &&
               EVP_PKEY_derive(context.get(), shared.data(), &size) == 1 && size == shared.size();
    }

  private:
    KeyPair pair_;
    PublicKey public_{};
};

enum class Direction { opening = 0, sealing = 1 }; // as OpenSSL numbers them

class AesGcm final : public RecordCipher {
  public:
    bool set_key(const KeyBytes& key, Direction direction) {
        direction_ = static_cast<int>(direction);
        context_.reset(EVP_CIPHER_CTX_new());
        return context_ != nullptr && EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr,
                                                        key.data(), nullptr, direction_) == 1;
    }
    bool seal(uint64_t number, std::string_view readable, std::string_view text, char* out) override {
        auto* const tag = reinterpret_cast<unsigned char*>(out + text.size());
        return transform(number, readable, text, out) && finish() &&
               EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, record_tag_bytes, tag) == 1;
    }
    bool open(uint64_t number, std::string_view readable, std::string_view sealed, char* out) override {
        if (sealed.size() < record_tag_bytes) return false;
        unsigned char tag[record_tag_bytes];
        std::memcpy(tag, sealed.data() + sealed.size() - sizeof tag, sizeof tag);
        sealed.remove_suffix(sizeof tag);
        return transform(number, readable, sealed, out) &&
               EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) == 1 && finish();
    }

  private:
    bool transform(uint64_t number, std::string_view readable, std::string_view text, char* out) {
        unsigned char nonce[12] = {};
        std::memcpy(nonce + 4, &number, sizeof number);
        int n = 0;
        return EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce, direction_) == 1 &&
               EVP_CipherUpdate(context_.get(), nullptr, &n, in(readable),
                                static_cast<int>(readable.size())) == 1 &&
               EVP_CipherUpdate(context_.get(), reinterpret_cast<unsigned char*>(out), &n, in(text),
                                static_cast<int>(text.size())) == 1;
    }
    bool finish() {
        unsigned char rest[16];
        int n = 0;
        return EVP_CipherFinal_ex(context_.get(), rest, &n) == 1;
    }

    CipherContext context_;
    int direction_ = 0;
};

class OpensslCrypto final : public Crypto {
  public:
    // The configuration file of OpenSSL is for TLS, and reading it takes longer than everything else here.
    OpensslCrypto() { OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr); }
    [[nodiscard]] std::unique_ptr<KeyExchange> new_exchange() const override {
        auto made = std::make_unique<X25519>();
        return made->generate() ? std::move(made) : nullptr;
    }
    [[nodiscard]] std::unique_ptr<RecordCipher> new_sealing_cipher(const KeyBytes& key) const override {
        return new_cipher(key, Direction::sealing);
    }
    [[nodiscard]] std::unique_ptr<RecordCipher> new_opening_cipher(const KeyBytes& key) const override {
        return new_cipher(key, Direction::opening);
    }

  private:
    static std::unique_ptr<RecordCipher> new_cipher(const KeyBytes& key, Direction direction) {
        auto made = std::make_unique<AesGcm>();
        return made->set_key(key, direction) ? std::move(made) : nullptr;
    }
};

} // namespace
} // namespace zipmpi

extern "C" [[gnu::visibility("default")]] const zipmpi::Crypto* zipmpi_crypto_1() {
    static const zipmpi::OpensslCrypto crypto;
    return &crypto;
}
