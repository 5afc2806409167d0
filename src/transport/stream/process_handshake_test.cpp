// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/stream/process_handshake.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::transport::stream;

namespace {

const ProcessName caller{7, 1, 0};
const ProcessName acceptor{8, 2, 0};

TEST(InterJobHandshake, BothSidesAuthenticate) {
    const std::string key = random_bytes(key_bytes);
    const Hello hello = make_hello(key, caller, acceptor);
    ASSERT_TRUE(is_hello(hello));
    EXPECT_EQ(hello.key, key_id(key));
    EXPECT_TRUE(is_authentic(hello, key));
    const HelloReply reply = make_hello_reply(hello, key);
    EXPECT_TRUE(is_authentic(hello, reply, key));
    const Confirm confirm = make_confirm(hello, reply, key);
    EXPECT_TRUE(is_authentic(hello, reply, confirm, key));
    EXPECT_EQ(connection_key(hello, reply, key).size(), key_bytes);
    EXPECT_NE(connection_key(hello, reply, key), key);
}

TEST(InterJobHandshake, WrongKeyIsRejected) {
    const std::string key = random_bytes(key_bytes);
    const std::string other = random_bytes(key_bytes);
    const Hello hello = make_hello(key, caller, acceptor);
    const HelloReply reply = make_hello_reply(hello, key);
    EXPECT_FALSE(is_authentic(hello, other));
    EXPECT_FALSE(is_authentic(hello, make_hello_reply(hello, other), key));
    EXPECT_FALSE(is_authentic(hello, reply, make_confirm(hello, reply, other), key));
}

// A replayed confirmation is rejected because it depends on the nonce.
TEST(InterJobHandshake, ReplayIsRejected) {
    const std::string key = random_bytes(key_bytes);
    const Hello hello = make_hello(key, caller, acceptor);
    const Confirm old = make_confirm(hello, make_hello_reply(hello, key), key);
    EXPECT_FALSE(is_authentic(hello, make_hello_reply(hello, key), old, key));
    Hello changed = hello;
    changed.from.rank = 3;
    EXPECT_FALSE(is_authentic(changed, key));
}

} // namespace
