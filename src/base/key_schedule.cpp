// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/key_schedule.hpp"

#include <cstring>
#include <string>

namespace zipmpi {
namespace {

constexpr std::string_view schedule_salt = "zipmpi key schedule 1";

std::string_view label_of(KeyPurpose purpose) {
    switch (purpose) {
    case KeyPurpose::control:
        return "control";
    case KeyPurpose::control_records:
        return "control records";
    case KeyPurpose::peer:
        return "peer";
    case KeyPurpose::peer_records:
        return "peer records";
    case KeyPurpose::hop:
        return "hop";
    case KeyPurpose::end_to_end:
        return "end to end";
    case KeyPurpose::end_to_end_pair:
        return "end to end pair";
    case KeyPurpose::inter_job:
        return "inter job";
    }
    return {};
}

} // namespace

Digest hkdf_extract(std::string_view salt, std::span<const uint8_t> secret) {
    return hmac_sha256(salt, {reinterpret_cast<const char*>(secret.data()), secret.size()});
}

Digest hkdf_expand(const Digest& pseudorandom, std::string_view info) {
    return hmac_sha256(view(pseudorandom), std::string(info).append(1, '\x01'));
}

KeyBytes derive_key(std::span<const uint8_t> secret, KeyPurpose purpose, std::string_view context) {
    Digest pseudorandom = hkdf_extract(schedule_salt, secret);
    // No label contains a zero byte, so label and context are separated unambiguously.
    const KeyBytes key =
        hkdf_expand(pseudorandom, std::string(label_of(purpose)).append(1, '\0').append(context));
    wipe(pseudorandom);
    return key;
}

void wipe(std::span<uint8_t> key) { explicit_bzero(key.data(), key.size()); }

} // namespace zipmpi
