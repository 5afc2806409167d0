// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parses frames and finalizes their headers; no other code does. Every field returned has been checked
// against the bytes received. Pure functions.
#pragma once

#include "wire/frame_layout.hpp"

#include <span>
#include <string_view>

namespace zipmpi::bridge {

// previous: of the bytes before these.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous = 0);
// Id of a job in frames.
uint64_t job_number(std::string_view job_id);

// Fills in magic and checksum.
void finalize(wire::Frame& frame);

// Parses the header only, for forwarding. bytes_after: size of what follows it.
bool read_frame(std::span<const std::byte> bytes, uint64_t job, size_t bytes_after, wire::Frame& frame);

struct FrameView {
    wire::Frame frame{};
    bool has_ack = false;
    wire::AckBlock ack{};
    bool sealed = false;
    wire::AeadHeader seal{};
    bool has_data_checksum = false;
    wire::DataChecksum data_checksum{};
    wire::MessageHead head{};           // of a message
    std::span<const std::byte> payload; // of a message: inline_bytes
    // The rest; for a sealed frame all that is sealed, if it arrived in one part.
    std::span<const std::byte> data;
};

// A frame in two parts: all except its data, and the data; or all in the first.
bool read_frame(std::span<const std::byte> bytes, std::span<const std::byte> data, uint64_t job,
                FrameView& out);

// Contents of control frames.
bool read_ack(const FrameView& view, wire::AckBitmap& ack);
bool read_grant(const FrameView& view, wire::Grant& grant);
bool read_route_update(const FrameView& view, wire::RouteUpdate& update);

} // namespace zipmpi::bridge
