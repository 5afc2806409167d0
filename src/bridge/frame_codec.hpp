// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Builds the frames that a rank sends and checks those that it receives. Over untrusted links frames are
// encrypted by the sending endpoint, and verified and decrypted by the receiving one; gateways see only the
// header. Otherwise a checksum covers the whole frame from endpoint to endpoint.
#pragma once

#include "bridge/flow_state.hpp"
#include "bridge/frame.hpp"
#include "transport/auth/aead.hpp"

#include <utility>

namespace zipmpi::bridge {

// A frame to be sent, except its data.
struct FrameBytes {
    std::byte bytes[wire::frame_head_max + sizeof(wire::AckBitmap)];
    size_t used;

    [[nodiscard]] std::span<const std::byte> all() const { return {bytes, used}; }
};

class FrameCodec {
  public:
    FrameCodec(int own_id, uint64_t job)
        : own_id_(own_id)
        , job_(job) {}

    void set_aead(transport::auth::Aead& aead) { aead_ = &aead; }
    [[nodiscard]] bool encrypts() const { return aead_ != nullptr; }

    // What a frame consists of. Encrypted data is appended to `sealed`, and `data` then refers to it; null:
    // the frame has none.
    struct FrameParts {
        wire::Frame header;
        const wire::AckBlock* ack; // null: none
        std::span<const std::byte> head;
        std::span<const std::byte> data;
        std::vector<SealedText>* sealed;
    };
    bool build(Flow& flow, int path, FrameParts& parts, FrameBytes& out);
    // Releases all encrypted texts of data of this size except the first ones.
    void release_sealed(std::vector<SealedText>& sealed, size_t left, size_t data_bytes);

    // Parses a frame to this rank; false: it is not one.
    [[nodiscard]] bool parse(std::span<const std::byte> head, std::span<const std::byte> data,
                             FrameView& view) const {
        return read_frame(head, data, job_, view) && view.frame.to == own_id_;
    }
    // The header of a frame to this rank whose data is still arriving.
    [[nodiscard]] bool parse_header(std::span<const std::byte> head, size_t data_bytes,
                                    wire::Frame& frame) const {
        return read_frame(head, job_, head.size() - sizeof frame + data_bytes, frame) && frame.to == own_id_;
    }
    // Gateways do not encrypt; all other frames of a job with untrusted links must be.
    [[nodiscard]] bool must_be_sealed(const FrameView& view) const {
        return aead_ != nullptr && view.frame.type < wire::FrameType::credit;
    }
    // Whether data is all that is encrypted.
    [[nodiscard]] static bool seals_data_only(const FrameView& view, std::span<const std::byte> head) {
        return head.size() == readable_bytes(view) + sizeof(wire::AeadHeader);
    }
    // Whether a frame of a rank that is not encrypted has arrived as it was sent.
    [[nodiscard]] static bool is_intact(const FrameView& view, std::span<const std::byte> head,
                                        std::span<const std::byte> data);
    // Restores the frame in `opened`, except its data if data_to is not null.
    bool open(const FrameView& view, std::span<const std::byte> head, std::span<const std::byte> data,
              std::byte* data_to, std::vector<std::byte>& opened, FrameView& inside);
    // A buffer for decrypted frames, reused.
    [[nodiscard]] std::vector<std::byte> acquire_buffer() { return std::exchange(opened_, {}); }
    void release_buffer(std::vector<std::byte> buffer) { opened_ = std::move(buffer); }

  private:
    [[nodiscard]] static size_t readable_bytes(const FrameView& view) {
        return sizeof(wire::Frame) + (view.has_ack ? sizeof(wire::AckBlock) : 0);
    }
    [[nodiscard]] SealedText acquire_text(uint64_t bytes);
    bool seal(Flow& flow, FrameParts& parts, std::span<const std::byte> ack, std::span<std::byte> head,
              wire::AeadHeader& seal);

    int own_id_;
    uint64_t job_;
    transport::auth::Aead* aead_ = nullptr; // null: links are trusted
    std::vector<std::byte> opened_;
    std::vector<SealedText> texts_; // of one chunk each, reused
};

} // namespace zipmpi::bridge
