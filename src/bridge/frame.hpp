// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The one place where frames are read, and where their headers are closed. What is given out has been checked
// against what has really come. Pure.
#pragma once

#include "wire/frame_layout.hpp"

#include <span>

namespace zipmpi::bridge {

uint32_t crc32c(std::span<const std::byte> bytes);

// Fills in magic and checksum.
void close(wire::Frame& frame);

// The header alone, for who passes the frame on. bytes_after: what came behind it.
bool read_frame(std::span<const std::byte> bytes, uint64_t job, size_t bytes_after, wire::Frame& frame);

struct FrameView {
    wire::Frame frame{};
    bool has_ack = false;
    wire::AckBlock ack{};
    bool sealed = false;
    wire::Seal seal{};
    wire::MessageHead head{};           // of a message
    std::span<const std::byte> payload; // of a message: inline_bytes
    std::span<const std::byte> data; // the rest; of a sealed frame all that is sealed, if it came in one part
};

// A frame in two parts: all but its data, and the data; or all in the first.
bool read_frame(std::span<const std::byte> bytes, std::span<const std::byte> data, uint64_t job,
                FrameView& out);

// The contents of frames between hops and ends.
bool read_ack(const FrameView& view, wire::AckBitmap& ack);
bool read_grant(const FrameView& view, wire::Grant& grant);
bool read_news(const FrameView& view, wire::News& news);

} // namespace zipmpi::bridge
