// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Protection of what a connection carries after its handshake: records of base/record_channel.hpp. The keys
// are derived from the key and both nonces of the handshake, so no pair of key and record number is used
// twice.
#pragma once

#include "base/record_channel.hpp"
#include "transport/stream/process_handshake.hpp"

namespace zipmpi::transport::stream {

// How connections of a network are protected; both sides of a connection must agree.
struct Sealing {
    const Crypto* crypto = nullptr; // null: not at all
    RecordText text = RecordText::encrypted;

    [[nodiscard]] HelloOptions options() const {
        if (crypto == nullptr) return HelloOptions::plain;
        return text == RecordText::encrypted ? HelloOptions::encrypted : HelloOptions::authenticated;
    }
};

// Which side of the handshake this process was.
enum class Side { dialing, accepting };

// The records of one connection.
class SealedStream {
  public:
    SealedStream(const Sealing& sealing, const RecordChannel::Keys& keys)
        : records_(*sealing.crypto, keys, records_per_key, sealing.text) {}

    bool add(std::string_view text) { return records_.seal(text, out_); }
    [[nodiscard]] std::string_view unsent() const { return std::string_view(out_).substr(sent_); }
    void take_sent(size_t bytes) {
        sent_ += bytes;
        if (sent_ < out_.size()) return;
        out_.clear();
        sent_ = 0;
    }
    // Appends the text of what has arrived. Returns false if it is not authentic.
    bool open(std::string_view bytes, std::string& text) { return records_.open(bytes, text); }

  private:
    RecordChannel records_;
    std::string out_; // records that the socket has not accepted yet, and before them those that it has
    size_t sent_ = 0;
};

// The stream of a connection whose handshake is complete.
inline std::unique_ptr<SealedStream> seal_stream(const Sealing& sealing, const Hello& hello,
                                                 const HelloReply& reply, std::string_view key, Side side) {
    std::string secret = connection_key(hello, reply, key);
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(secret.data()), secret.size());
    KeyBytes of_dialing = derive_key(bytes, KeyPurpose::peer_records, "dialing");
    KeyBytes of_accepting = derive_key(bytes, KeyPurpose::peer_records, "accepting");
    const bool dials = side == Side::dialing;
    RecordChannel::Keys keys{dials ? of_dialing : of_accepting, dials ? of_accepting : of_dialing};
    auto sealed = std::make_unique<SealedStream>(sealing, keys);
    for (const std::span<uint8_t> used :
         {bytes, std::span<uint8_t>(of_dialing), std::span<uint8_t>(of_accepting),
          std::span<uint8_t>(keys.sending), std::span<uint8_t>(keys.receiving)})
        wipe(used);
    return sealed;
}

} // namespace zipmpi::transport::stream
