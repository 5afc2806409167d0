// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface of the cryptography that base/ does not implement: X25519 and AES-256-GCM. The module
// zipmpi_crypto.so does, with OpenSSL; os/crypto_module.hpp loads it.
#pragma once

#include "base/key_schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zipmpi {

using PublicKey = std::array<uint8_t, 32>;

// One ephemeral key pair.
class KeyExchange {
  public:
    virtual ~KeyExchange() = default;
    [[nodiscard]] virtual const PublicKey& public_key() const = 0;
    // The secret that only the owners of the two key pairs can compute. Returns false for an invalid key.
    virtual bool agree(const PublicKey& peer, KeyBytes& shared) = 0;
};

inline constexpr size_t record_tag_bytes = 16;

// Authenticated encryption with one key, in one direction.
class RecordCipher {
  public:
    virtual ~RecordCipher() = default;
    // Writes text.size() + record_tag_bytes bytes. A number must not be used twice.
    virtual bool seal(uint64_t number, std::string_view readable, std::string_view text, char* out) = 0;
    // Writes sealed.size() - record_tag_bytes bytes. Returns false if they are not authentic.
    virtual bool open(uint64_t number, std::string_view readable, std::string_view sealed, char* out) = 0;
};

class Crypto {
  public:
    virtual ~Crypto() = default;
    // Null: not enough memory or random bytes.
    [[nodiscard]] virtual std::unique_ptr<KeyExchange> new_exchange() const = 0;
    [[nodiscard]] virtual std::unique_ptr<RecordCipher> new_sealing_cipher(const KeyBytes& key) const = 0;
    [[nodiscard]] virtual std::unique_ptr<RecordCipher> new_opening_cipher(const KeyBytes& key) const = 0;
};

inline constexpr const char* crypto_module_symbol = "zipmpi_crypto_1";
using GetCrypto = const Crypto* (*)();

} // namespace zipmpi
