// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What UCX can do on the way to a peer, as its description of the endpoint says. UCX 1.13 tells it nowhere
// else.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace zipmpi::transport::ucx {

struct Way {
    bool reads_memory = false;    // of the peer, without its help: a get that is no message in disguise
    uint64_t rendezvous_from = 0; // bytes from which UCX expects to gain by asking first; 0: not known
};

inline Way read_way(std::string_view description) {
    Way way;
    const auto line_with = [description](std::string_view word) {
        const size_t at = description.find(word);
        return at == description.npos ? std::string_view()
                                      : description.substr(at, description.find('\n', at) - at);
    };
    way.reads_memory = line_with(" get[").find("<zcopy>") != std::string_view::npos;
    const std::string_view send = line_with(" am_send:");
    const size_t end = send.find("..<rndv>");
    if (end == send.npos) return way;
    const size_t before = send.rfind('.', end - 1);
    if (before != send.npos)
        std::from_chars(send.data() + before + 1, send.data() + end, way.rendezvous_from);
    return way;
}

} // namespace zipmpi::transport::ucx
