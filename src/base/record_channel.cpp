// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/record_channel.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi {

RecordKey::RecordKey(const Crypto& crypto, NewCipher new_cipher, const KeyBytes& first, uint64_t per_key)
    : crypto_(crypto)
    , new_cipher_(new_cipher)
    , key_(first)
    , per_key_(per_key) {}

RecordCipher* RecordKey::take(uint64_t& number) {
    if (next_ % per_key_ == 0) {
        if (next_ != 0) key_ = derive_key(key_, KeyPurpose::control_records, "next");
        cipher_ = (crypto_.*new_cipher_)(key_);
    }
    number = next_++;
    return cipher_.get();
}

RecordChannel::RecordChannel(const Crypto& crypto, const Keys& keys, uint64_t per_key, RecordText text)
    : sending_(crypto, &Crypto::new_sealing_cipher, keys.sending, per_key)
    , receiving_(crypto, &Crypto::new_opening_cipher, keys.receiving, per_key)
    , text_(text) {}

// Readable text is authenticated like the head, and only the tag of an empty text follows it.
static bool seal_record(RecordCipher& cipher, uint64_t number, RecordText how, std::string_view text,
                        char* out) {
    if (how == RecordText::encrypted)
        return cipher.seal(number, {out, record_head_bytes}, text, out + record_head_bytes);
    std::memcpy(out + record_head_bytes, text.data(), text.size());
    const std::string_view readable(out, record_head_bytes + text.size());
    return cipher.seal(number, readable, {}, out + readable.size());
}

// Writes the text of a whole record to `out`.
static bool open_record(RecordCipher& cipher, uint64_t number, RecordText how, std::string_view record,
                        char* out) {
    const std::string_view text = record.substr(record_head_bytes);
    if (how == RecordText::encrypted)
        return cipher.open(number, record.substr(0, record_head_bytes), text, out);
    const size_t readable = record.size() - record_tag_bytes;
    if (!cipher.open(number, record.substr(0, readable), record.substr(readable), out)) return false;
    std::memcpy(out, text.data(), text.size() - record_tag_bytes);
    return true;
}

bool RecordChannel::seal(std::string_view text, std::string& out) {
    while (!text.empty()) {
        const std::string_view part = text.substr(0, max_record_text);
        text.remove_prefix(part.size());
        const auto bytes = static_cast<uint32_t>(part.size() + record_tag_bytes);
        const size_t at = out.size();
        out.resize(at + record_head_bytes + bytes);
        std::memcpy(out.data() + at, &bytes, sizeof bytes);
        uint64_t number = 0;
        RecordCipher* const cipher = sending_.take(number);
        if (cipher == nullptr || !seal_record(*cipher, number, text_, part, out.data() + at)) return false;
    }
    return true;
}

bool RecordChannel::open(std::string_view bytes, std::string& text) {
    if (rejected_) return false;
    in_.append(bytes);
    while (open_next(text)) {
    }
    if (in_start_ == in_.size()) {
        in_.clear();
        in_start_ = 0;
    } else if (in_start_ > max_record_text) {
        in_.erase(0, in_start_);
        in_start_ = 0;
    }
    return !rejected_;
}

bool RecordChannel::open_next(std::string& text) {
    const std::string_view in = std::string_view(in_).substr(in_start_);
    if (in.size() < record_head_bytes) return false;
    uint32_t bytes = 0;
    std::memcpy(&bytes, in.data(), sizeof bytes);
    // Authenticated below, but needed before: it bounds what is stored.
    rejected_ = bytes <= record_tag_bytes || bytes > max_record_text + record_tag_bytes;
    if (rejected_ || in.size() - record_head_bytes < bytes) return false;
    uint64_t number = 0;
    RecordCipher* const cipher = receiving_.take(number);
    const size_t at = text.size();
    text.resize(at + bytes - record_tag_bytes);
    if (cipher == nullptr ||
        !open_record(*cipher, number, text_, in.substr(0, record_head_bytes + bytes), text.data() + at)) {
        text.resize(at);
        rejected_ = true;
        return false;
    }
    in_start_ += record_head_bytes + bytes;
    return true;
}

} // namespace zipmpi
