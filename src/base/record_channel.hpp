// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Records of a connection, after its handshake. Each has a length (4 bytes), text and a tag (16 bytes);
// AES-256-GCM with one key per direction, and the number of the record as nonce. So a record that was
// altered, dropped, repeated, reordered or cut is detected when it or its successor is read. Control
// connections and those between ranks consist of them. Without descriptors, so that tests and fuzzers can
// drive it.
#pragma once

#include "base/crypto.hpp"

namespace zipmpi {

inline constexpr size_t max_record_text = 16U << 10;
inline constexpr size_t record_head_bytes = sizeof(uint32_t);
inline constexpr uint64_t records_per_key = 1U << 16; // at most 1 GiB per key

// One direction of a connection.
class RecordKey {
  public:
    using NewCipher = std::unique_ptr<RecordCipher> (Crypto::*)(const KeyBytes&) const;
    RecordKey(const Crypto& crypto, NewCipher new_cipher, const KeyBytes& first, uint64_t per_key);
    RecordKey(const RecordKey&) = delete;
    RecordKey& operator=(const RecordKey&) = delete;
    ~RecordKey() { wipe(key_); }
    // The cipher for the next record; null: not enough memory. Replaces the key when it is due.
    RecordCipher* take(uint64_t& number);

  private:
    const Crypto& crypto_;
    NewCipher new_cipher_;
    KeyBytes key_;
    uint64_t per_key_;
    uint64_t next_ = 0;
    std::unique_ptr<RecordCipher> cipher_;
};

// Whether the text of records can be read on the way. It is authenticated in both cases.
enum class RecordText { encrypted, readable };

class RecordChannel {
  public:
    struct Keys {
        KeyBytes sending, receiving;
    };
    RecordChannel(const Crypto& crypto, const Keys& keys, uint64_t per_key = records_per_key,
                  RecordText text = RecordText::encrypted);

    // Appends the records of a text to `out`. Returns false if memory is short.
    bool seal(std::string_view text, std::string& out);
    // Reads bytes of the connection and appends the texts of whole records to `text`. Returns false, from
    // then on, if a record is not authentic.
    bool open(std::string_view bytes, std::string& text);

  private:
    bool open_next(std::string& text);

    RecordKey sending_, receiving_;
    RecordText text_;
    std::string in_;
    size_t in_start_ = 0;
    bool rejected_ = false;
};

} // namespace zipmpi
