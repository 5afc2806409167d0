// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames from a gateway that sends whatever the fuzzer likes, with a checksum that is right. What is read
// must lie within what came.
#include "bridge/frame.hpp"
#include "bridge/grid.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace zipmpi;
    std::vector<std::byte> bytes(size);
    if (size != 0) std::memcpy(bytes.data(), data, size);
    if (size >= sizeof(wire::Frame)) {
        wire::Frame frame{};
        std::memcpy(&frame, data, sizeof frame);
        bridge::close(frame);
        std::memcpy(bytes.data(), &frame, sizeof frame);
        const size_t split = sizeof frame + frame.lane % 64;
        for (const size_t first : {size, split < size ? split : size}) {
            bridge::FrameView view;
            const std::span all(bytes);
            if (!bridge::read_frame(all.first(first), all.subspan(first), frame.job, view)) continue;
            uint64_t sum = 0;
            for (const std::byte b : view.payload) sum += static_cast<uint64_t>(b);
            for (const std::byte b : view.data) sum += static_cast<uint64_t>(b);
            if (sum > uint64_t{255} * size || view.payload.size() > wire::inline_max) std::abort();
            wire::AckBitmap ack{};
            wire::Grant grant{};
            wire::News news{};
            static_cast<void>(bridge::read_ack(view, ack) || bridge::read_grant(view, grant) ||
                              bridge::read_news(view, news));
        }
    }
    bridge::Grid grid;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    bridge::Grid again;
    if (bridge::parse(text, grid) && !bridge::parse(bridge::print(grid), again)) std::abort();
    return 0;
}
