// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/node_map.hpp"
#include "launch/pmi/pmi_server.hpp"

#include <gtest/gtest.h>
#include <numeric>

using namespace zipmpi::launch;

namespace {

std::vector<uint32_t> all(uint32_t n) {
    std::vector<uint32_t> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

struct TestServer {
    explicit TestServer(uint32_t n)
        : replies(n)
        , server(
              {"job", n, 0, n, std::vector<uint32_t>(n, 0), all(n), NodeMap({{0, n}}).pmi_text()},
              [this](uint32_t r, std::string_view b) { replies[r].append(b); },
              [this](uint32_t r, int code, std::string_view) {
                  aborted = static_cast<int>(r) * 1000 + code;
              }) {}
    std::string request(uint32_t rank, std::string_view bytes) {
        replies[rank].clear();
        server.feed(rank, bytes);
        return replies[rank];
    }
    std::string request_pmi2(uint32_t rank, const std::string& body) {
        std::string n = std::to_string(body.size());
        return request(rank, std::string(6 - n.size(), ' ') + n + body);
    }
    std::vector<std::string> replies;
    int aborted = -1;
    PmiServer server;
};

TEST(PmiText, ParsesLine) {
    PmiMessage m;
    ASSERT_TRUE(parse_pmi1("cmd=put kvsname=k  key=a=b value=x=y\r", m));
    EXPECT_EQ(m.command(), "put");
    EXPECT_EQ(m.get("key"), "a=b");
    EXPECT_EQ(m.get("value"), "x=y");
}

TEST(PmiText, RejectsGarbage) {
    PmiMessage m;
    EXPECT_FALSE(parse_pmi1("", m));
    EXPECT_FALSE(parse_pmi1("hello world", m));
    EXPECT_FALSE(parse_pmi1("=x", m));
    EXPECT_FALSE(parse_pmi1("key=x", m));
    EXPECT_FALSE(parse_pmi2("cmd", m));
    EXPECT_FALSE(parse_pmi2("cmd=x", m));
    EXPECT_FALSE(parse_pmi2(";cmd=x;", m));
    EXPECT_FALSE(parse_pmi2("cmd=x;;", m));
}

TEST(PmiText, DoubledSemicolon) {
    PmiMessage m;
    ASSERT_TRUE(parse_pmi2("cmd=kvs-put;key=a;value=x;;y;", m));
    EXPECT_EQ(m.get("value"), "x;y");
    EXPECT_EQ(format_pmi2({{"cmd", "a"}, {"value", "x;y"}}), "    17cmd=a;value=x;;y;");
}

TEST(PmiText, LengthsAreChecked) {
    EXPECT_EQ(parse_pmi2_length("    12"), 12);
    EXPECT_EQ(parse_pmi2_length("12    "), -1);
    EXPECT_EQ(parse_pmi2_length("999999"), -1);
    EXPECT_EQ(parse_pmi2_length("    -1"), -1);
    EXPECT_EQ(parse_pmi2_length("      "), -1);
    EXPECT_EQ(parse_pmi_int("12x", -5), -5);
    EXPECT_EQ(parse_pmi_int("99999999999", -5), -5);
}

TEST(Pmi1, TypicalSession) {
    TestServer d(2);
    EXPECT_EQ(d.request(0, "cmd=init pmi_version=1 pmi_subversion=1\n"),
              "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    EXPECT_TRUE(d.server.is_initialized(0));
    EXPECT_NE(d.request(0, "cmd=get_maxes\n").find("cmd=maxes kvsname_max="), std::string::npos);
    EXPECT_EQ(d.request(0, "cmd=get_appnum\n"), "cmd=appnum appnum=0\n");
    EXPECT_EQ(d.request(0, "cmd=get_my_kvsname\n"), "cmd=my_kvsname kvsname=job\n");
    EXPECT_EQ(d.request(0, "cmd=get_universe_size\n"), "cmd=universe_size size=2\n");
    EXPECT_EQ(d.request(0, "cmd=get kvsname=job key=PMI_process_mapping\n"),
              "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
    EXPECT_EQ(d.request(0, "cmd=put kvsname=job key=k value=v\n"), "cmd=put_result rc=0 msg=success\n");
    EXPECT_EQ(d.request(0, "cmd=barrier_in\n"), "");
    EXPECT_EQ(d.request(1, "cmd=barrier_in\n"), "cmd=barrier_out\n");
    EXPECT_EQ(d.replies[0], "cmd=barrier_out\n");
    EXPECT_EQ(d.request(1, "cmd=get kvsname=job key=k\n"), "cmd=get_result rc=0 msg=success value=v\n");
    EXPECT_EQ(d.request(1, "cmd=get kvsname=job key=q\n"), "cmd=get_result rc=-1 msg=failed value=unknown\n");
    EXPECT_EQ(d.request(0, "cmd=finalize\n"), "cmd=finalize_ack\n");
    EXPECT_FALSE(d.server.is_initialized(0));
}

TEST(Pmi1, FragmentedAndCoalescedInput) {
    TestServer d(1);
    for (const char c : std::string_view("cmd=get_appnum\n")) d.server.feed(0, {&c, 1});
    EXPECT_EQ(d.replies[0], "cmd=appnum appnum=0\n");
    EXPECT_EQ(d.request(0, "cmd=get_appnum\ncmd=get_appnum\n"), "cmd=appnum appnum=0\ncmd=appnum appnum=0\n");
}

TEST(Pmi1, AbortSpawnAndUnknownCommands) {
    TestServer d(2);
    d.request(1, "cmd=abort exitcode=7\n");
    EXPECT_EQ(d.aborted, 1007);
    EXPECT_EQ(d.request(0, "mcmd=spawn\nnprocs=2\nanything goes\nendcmd\n"),
              "cmd=spawn_result rc=-1 status=not_supported\n");
    EXPECT_NE(d.request(0, "cmd=nonsense\n").find("rc=-1"), std::string::npos);
}

TEST(Pmi1, ExitedRankDoesNotBlockBarriers) {
    TestServer d(3);
    d.request(0, "cmd=barrier_in\n");
    d.request(1, "cmd=barrier_in\n");
    d.server.rank_ended(2);
    EXPECT_EQ(d.replies[0], "cmd=barrier_out\n");
}

TEST(Pmi1, GarbageAffectsOnlyItsRank) {
    TestServer d(2);
    EXPECT_EQ(d.request(0, std::string("\0\1\2 binary\n", 11)), "");
    EXPECT_TRUE(d.server.has_protocol_error(0));
    EXPECT_EQ(d.request(0, "cmd=get_appnum\n"), "");
    EXPECT_EQ(d.request(1, "cmd=get_appnum\n"), "cmd=appnum appnum=0\n");
    d.server.feed(1, std::string(pmi_message_limit + 2, 'x')); // unterminated line
    EXPECT_TRUE(d.server.has_protocol_error(1));
}

TEST(Pmi1, KeysAndValuesHaveLimits) {
    TestServer d(1);
    const std::string longer(pmi_value_limit + 1, 'v');
    EXPECT_NE(d.request(0, "cmd=put kvsname=job key=k value=" + longer + "\n").find("rc=-1"),
              std::string::npos);
    EXPECT_NE(d.request(0, "cmd=put kvsname=job value=v\n").find("rc=-1"), std::string::npos);
    EXPECT_NE(d.request(0, "cmd=init pmi_version=9\n").find("rc=-1"), std::string::npos);
}

TEST(Pmi2, TypicalSession) {
    TestServer d(2);
    for (uint32_t r = 0; r < 2; ++r)
        EXPECT_EQ(d.request(r, "cmd=init pmi_version=2 pmi_subversion=0\n"),
                  "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
    EXPECT_NE(d.request_pmi2(1, "cmd=fullinit;pmirank=1;threaded=FALSE;").find(";rank=1;size=2;appnum=0;"),
              std::string::npos);
    EXPECT_NE(d.request_pmi2(0, "cmd=job-getid;").find("cmd=job-getid-response;jobid=job;rc=0;"),
              std::string::npos);
    EXPECT_NE(d.request_pmi2(0, "cmd=kvs-put;key=k;value=a;;b;").find("cmd=kvs-put-response;rc=0;"),
              std::string::npos);
    EXPECT_EQ(d.request_pmi2(0, "cmd=kvs-fence;thrid=4;"), "");
    EXPECT_NE(d.request_pmi2(1, "cmd=kvs-fence;").find("cmd=kvs-fence-response;rc=0;"), std::string::npos);
    EXPECT_NE(d.replies[0].find("cmd=kvs-fence-response;thrid=4;rc=0;"), std::string::npos);
    EXPECT_NE(d.request_pmi2(1, "cmd=kvs-get;jobid=job;srcid=0;key=k;").find("flag=TRUE;value=a;;b;"),
              std::string::npos);
    EXPECT_NE(d.request_pmi2(1, "cmd=kvs-get;key=none;").find("flag=FALSE;"), std::string::npos);
    EXPECT_NE(
        d.request_pmi2(1, "cmd=info-getjobattr;key=PMI_process_mapping;").find("value=(vector,(0,1,2));"),
        std::string::npos);
    EXPECT_NE(d.request_pmi2(1, "cmd=info-getjobattr;key=universeSize;").find("value=2;"), std::string::npos);
    EXPECT_NE(d.request_pmi2(1, "cmd=finalize;").find("cmd=finalize-response;rc=0;"), std::string::npos);
    EXPECT_FALSE(d.server.is_initialized(1));
}

TEST(Pmi2, WaitsForNodeAttributes) {
    TestServer d(2);
    for (uint32_t r = 0; r < 2; ++r) d.request(r, "cmd=init pmi_version=2 pmi_subversion=0\n");
    EXPECT_NE(d.request_pmi2(0, "cmd=info-getnodeattr;key=a;wait=FALSE;").find("found=FALSE"),
              std::string::npos);
    EXPECT_EQ(d.request_pmi2(0, "cmd=info-getnodeattr;key=a;wait=TRUE;"), "");
    d.request_pmi2(1, "cmd=info-putnodeattr;key=a;value=7;");
    EXPECT_NE(d.replies[0].find("cmd=info-getnodeattr-response;found=TRUE;value=7;rc=0;"), std::string::npos);
}

TEST(Pmi2, GarbageAndUnknown) {
    TestServer d(2);
    for (uint32_t r = 0; r < 2; ++r) d.request(r, "cmd=init pmi_version=2 pmi_subversion=0\n");
    EXPECT_NE(d.request_pmi2(0, "cmd=job-disconnect;").find("rc=1;"), std::string::npos);
    d.request(0, "zzzzzzzzz");
    EXPECT_TRUE(d.server.has_protocol_error(0));
    d.request_pmi2(1, "cmd=abort;isworld=TRUE;msg=too bad;");
    EXPECT_EQ(d.aborted, 1001);
}

TEST(Pmi2, SecondProgramMayInitialize) {
    TestServer d(1);
    d.request(0, "cmd=init pmi_version=2 pmi_subversion=0\n");
    d.request_pmi2(0, "cmd=finalize;");
    EXPECT_NE(d.request(0, "cmd=init pmi_version=1 pmi_subversion=1\n").find("pmi_version=1"),
              std::string::npos);
}

// Rank 0 and gateway 0 of a job of two ranks and two gateways; the others are on node 7.
struct GatewayTestServer {
    GatewayTestServer()
        : server(
              {"job", 2, 2, 2, {0, 0}, {0, 2}, "(vector,(0,2,1))"},
              [this](uint32_t r, std::string_view b) { replies[r].append(b); },
              [](uint32_t, int, std::string_view) {},
              {[this](const std::string&) { ++fences; },
               [this](uint32_t owner, const std::string&) {
                   requested_owners.push_back(owner);
                   return true;
               },
               [this](uint32_t node, const std::string& key, const std::string* value) {
                   remote_replies.push_back(std::to_string(node) + " " + key + " " +
                                            (value != nullptr ? *value : "-"));
               },
               [this] { ++absences; }}) {}
    std::string request(uint32_t client, std::string_view bytes) {
        replies[client].clear();
        server.feed(client, bytes);
        return replies[client];
    }
    std::string replies[2];
    int fences = 0, absences = 0;
    std::vector<uint32_t> requested_owners;
    std::vector<std::string> remote_replies;
    PmiServer server;
};

TEST(PmiGateways, DoNotCountInFences) {
    GatewayTestServer d;
    d.request(0, "cmd=barrier_in\n");
    EXPECT_EQ(d.fences, 1);
    d.request(1, "cmd=barrier_in\n");
    EXPECT_TRUE(d.server.has_protocol_error(1));
}

TEST(PmiGateways, GetWaitsForPut) {
    GatewayTestServer d;
    EXPECT_EQ(d.request(0, "cmd=get kvsname=job key=zipmpi-2-epoch\n"), "");
    d.server.on_remote_get(7, "zipmpi-2-epoch");
    EXPECT_TRUE(d.remote_replies.empty() && d.requested_owners.empty());
    d.request(1, "cmd=put kvsname=job key=zipmpi-2-epoch value=1\n");
    EXPECT_EQ(d.replies[0], "cmd=get_result rc=0 msg=success value=1\n");
    EXPECT_EQ(d.remote_replies, std::vector<std::string>{"7 zipmpi-2-epoch 1"});
}

TEST(PmiGateways, GetOfOwnKeyDoesNotWait) {
    GatewayTestServer d;
    EXPECT_NE(d.request(1, "cmd=get kvsname=job key=zipmpi-2-devices.0\n").find("rc=-1"), std::string::npos);
}

TEST(PmiGateways, RemoteGatewayKeysAreNotCached) {
    GatewayTestServer d;
    for (const char* epoch : {"1", "2"}) {
        EXPECT_EQ(d.request(0, "cmd=get kvsname=job key=zipmpi-3-epoch\n"), "");
        d.server.on_remote_reply("zipmpi-3-epoch", true, epoch);
        EXPECT_EQ(d.replies[0], std::string("cmd=get_result rc=0 msg=success value=") + epoch + "\n");
    }
    EXPECT_EQ(d.requested_owners, (std::vector<uint32_t>{3, 3}));
    EXPECT_NE(d.request(0, "cmd=get kvsname=job key=zipmpi-4-epoch\n").find("rc=-1"), std::string::npos);
}

TEST(PmiGateways, RestartedGatewayGetsNoOldReplies) {
    GatewayTestServer d;
    d.request(1, "cmd=get kvsname=job key=zipmpi-1-net0\n");
    d.server.reset_client(1);
    d.server.on_remote_reply("zipmpi-1-net0", true, "x");
    EXPECT_EQ(d.replies[1], "");
}

TEST(PmiFailures, PendingGetOfFailedRankIsAnswered) {
    GatewayTestServer d;
    EXPECT_EQ(d.request(0, "cmd=get kvsname=job key=zipmpi-1-net0\n"), "");
    d.server.owner_failed(0);
    EXPECT_EQ(d.replies[0], "");
    d.server.owner_failed(1);
    EXPECT_EQ(d.replies[0], "cmd=get_result rc=-1 msg=failed value=unknown\n");
    // Its node may fail later, without another event.
    EXPECT_NE(d.request(0, "cmd=get kvsname=job key=zipmpi-1-net1\n").find("rc=-1"), std::string::npos);
    EXPECT_EQ(d.requested_owners, std::vector<uint32_t>{1});
}

// Other nodes may have entered a fence before the last rank of this one exits.
TEST(PmiFailures, NodeWithoutRanksIsReported) {
    GatewayTestServer d;
    d.server.rank_ended(0);
    EXPECT_EQ(d.absences, 1);
    EXPECT_EQ(d.fences, 0);
}

} // namespace
