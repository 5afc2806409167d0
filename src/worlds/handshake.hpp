// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The proof, both ways, that the two ends of a connection have the same key: hello, welcome, proof. The key
// itself never travels. Pure; a connection of each kind drives it.
#pragma once

#include "base/sha256.hpp"
#include "worlds/card.hpp"

#include <string>

namespace zipmpi::worlds {

inline constexpr size_t key_bytes = 32;
inline constexpr size_t nonce_bytes = 16;

// The number by which a hello says which key is meant.
uint64_t number_of(const std::string& key);
std::string random_bytes(size_t n);

struct Hello {
    uint32_t magic;
    uint32_t version;
    uint64_t key;
    Name from, to;
    uint8_t nonce[nonce_bytes];
    Digest proof;
};
static_assert(sizeof(Hello) == 96);

struct Welcome {
    uint8_t nonce[nonce_bytes];
    Digest proof;
};
static_assert(sizeof(Welcome) == 48);

struct Proof {
    Digest proof;
};

// Who dials says make_hello, checks the welcome, and says the proof. Who is dialled checks the hello and
// answers it, then checks the proof.
Hello make_hello(const std::string& key, const Name& from, const Name& to);
bool is_hello(const Hello& hello); // before the key is known: it may be one
bool is_proven(const Hello& hello, const std::string& key);
Welcome make_welcome(const Hello& hello, const std::string& key);
bool is_proven(const Hello& hello, const Welcome& welcome, const std::string& key);
Proof make_proof(const Hello& hello, const Welcome& welcome, const std::string& key);
inline bool is_proven(const Hello& hello, const Welcome& welcome, const Proof& proof,
                      const std::string& key) {
    return same_digest(proof.proof, make_proof(hello, welcome, key).proof);
}
// A key for what the two ends do next, which only they can make.
std::string next_key(const Hello& hello, const Welcome& welcome, const std::string& key);

} // namespace zipmpi::worlds
