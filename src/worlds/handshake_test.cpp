// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "worlds/handshake.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::worlds;

namespace {

const Name caller{7, 1, 0};
const Name answerer{8, 2, 0};

TEST(WorldsHandshake, BothProveTheKey) {
    const std::string key = random_bytes(key_bytes);
    const Hello hello = make_hello(key, caller, answerer);
    ASSERT_TRUE(is_hello(hello));
    EXPECT_EQ(hello.key, number_of(key));
    EXPECT_TRUE(is_proven(hello, key));
    const Welcome welcome = make_welcome(hello, key);
    EXPECT_TRUE(is_proven(hello, welcome, key));
    const Proof proof = make_proof(hello, welcome, key);
    EXPECT_TRUE(is_proven(hello, welcome, proof, key));
    EXPECT_EQ(next_key(hello, welcome, key).size(), key_bytes);
    EXPECT_NE(next_key(hello, welcome, key), key);
}

TEST(WorldsHandshake, AnotherKeyProvesNothing) {
    const std::string key = random_bytes(key_bytes);
    const std::string other = random_bytes(key_bytes);
    const Hello hello = make_hello(key, caller, answerer);
    const Welcome welcome = make_welcome(hello, key);
    EXPECT_FALSE(is_proven(hello, other));
    EXPECT_FALSE(is_proven(hello, make_welcome(hello, other), key));
    EXPECT_FALSE(is_proven(hello, welcome, make_proof(hello, welcome, other), key));
}

// What somebody has overheard is of no use: the answer to another nonce is another.
TEST(WorldsHandshake, NothingCanBeSaidAgain) {
    const std::string key = random_bytes(key_bytes);
    const Hello hello = make_hello(key, caller, answerer);
    const Proof old = make_proof(hello, make_welcome(hello, key), key);
    EXPECT_FALSE(is_proven(hello, make_welcome(hello, key), old, key));
    Hello changed = hello;
    changed.from.rank = 3;
    EXPECT_FALSE(is_proven(changed, key));
}

} // namespace
