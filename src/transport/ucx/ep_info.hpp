// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Capabilities of a UCX endpoint, parsed from its textual description; UCX 1.13 has no API for them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace zipmpi::transport::ucx {

struct EpInfo {
    bool has_rdma_read = false;        // zero-copy get by the device, not emulated by messages
    uint64_t rendezvous_threshold = 0; // bytes from which UCX prefers rendezvous; 0: unknown
};

inline EpInfo parse_ep_info(std::string_view description) {
    EpInfo info;
    const auto line_with = [description](std::string_view label) {
        const size_t at = description.find(label);
        return at == description.npos ? std::string_view()
                                      : description.substr(at, description.find('\n', at) - at);
    };
    info.has_rdma_read = line_with(" get[").find("<zcopy>") != std::string_view::npos;
    const std::string_view send = line_with(" am_send:");
    const size_t end = send.find("..<rndv>");
    if (end == send.npos) return info;
    const size_t before = send.rfind('.', end - 1);
    if (before != send.npos)
        std::from_chars(send.data() + before + 1, send.data() + end, info.rendezvous_threshold);
    return info;
}

} // namespace zipmpi::transport::ucx
