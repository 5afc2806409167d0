// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/job_protocol.hpp"

namespace zipmpi {

// One text in the program, which tests replace to get another version: weak, so that compilers do not compute
// with it.
[[gnu::weak]] extern const char own_job_protocol[];
const char own_job_protocol[] = "ZipMPI " ZIPMPI_VERSION ", job protocol 1";

namespace {

std::string_view protocol_of(std::string_view text) {
    constexpr std::string_view before = ", job protocol ";
    const size_t at = text.rfind(before);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + before.size());
}

} // namespace

std::string_view job_protocol_text() { return own_job_protocol; }

bool is_same_job_protocol(std::string_view text, std::string_view other) {
    return !protocol_of(text).empty() && protocol_of(text) == protocol_of(other);
}

std::string job_protocol_reason(std::string_view other, std::string_view text) {
    return std::string(other) + " is of " + (text.empty() ? "an unknown version" : std::string(text)) +
           ", and this process of " + std::string(job_protocol_text());
}

} // namespace zipmpi
