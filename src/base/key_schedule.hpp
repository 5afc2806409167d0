// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The key schedule of a job: every key is derived from the job's secret (32 random bytes) by HKDF-SHA-256
// (RFC 5869) with the label of its purpose. No key can be computed from another one. docs/security.md says
// which process has which key.
#pragma once

#include "base/sha256.hpp"

#include <span>

namespace zipmpi {

using KeyBytes = std::array<uint8_t, 32>;

enum class KeyPurpose {
    control,         // daemons and mpiexec authenticate to each other
    control_records, // encrypts one control connection; from the secret of its key exchange
    peer,            // ranks of one cluster authenticate to each other
    peer_records,    // protects one connection of two ranks, in one direction; from its handshake
    hop,             // ranks and gateways authenticate to each other
    end_to_end,      // ranks of different clusters encrypt what gateways carry
    end_to_end_pair, // the same between two ranks, in one direction; from end_to_end
    inter_job,       // identifies a job to connected jobs
};

// context: distinguishes keys of one purpose.
KeyBytes derive_key(std::span<const uint8_t> secret, KeyPurpose purpose, std::string_view context = {});

// The two steps of HKDF. expand() returns one block, the longest key in use.
Digest hkdf_extract(std::string_view salt, std::span<const uint8_t> secret);
Digest hkdf_expand(const Digest& pseudorandom, std::string_view info);

// Overwrites a key that is no longer needed; not removed by the optimizer.
void wipe(std::span<uint8_t> key);

} // namespace zipmpi
