// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ep_info.hpp"

#include <gtest/gtest.h>

namespace zipmpi::transport::ucx {
namespace {

TEST(EpInfo, RdmaHasRead) {
    const EpInfo info =
        parse_ep_info("#   lane[0]:  1:rc_verbs/rxe1:1.0 md[1] -> md[1]/ib/sysdev[255] rma_bw#0 am\n"
                      "#\n"
                      "#   am_send: 0..<egr/short>..72..<egr/bcopy>..14472..<rndv>..(inf)\n"
                      "#    put[0]: 0..<short>..81..<bcopy>..16384..<zcopy>..(inf)\n"
                      "#    get[0]: 0..<bcopy>..945..<zcopy>..(inf)\n");
    EXPECT_TRUE(info.has_rdma_read);
    EXPECT_EQ(info.rendezvous_threshold, 14472U);
}

TEST(EpInfo, TcpHasNoRead) {
    const EpInfo info =
        parse_ep_info("#   lane[0]:  0:tcp/lo.0 md[0] -> md[0]/tcp/sysdev[255] rma_bw#0 am wireup\n"
                      "#   am_send: 0..<egr/short>..8185..<egr/zcopy>..20553..<rndv>..(inf)\n");
    EXPECT_FALSE(info.has_rdma_read);
    EXPECT_EQ(info.rendezvous_threshold, 20553U);
}

TEST(EpInfo, InvalidTextGivesDefaults) {
    for (const char* text :
         {"", " am_send:", " am_send: ..<rndv>", " am_send:..x..<rndv>", " get[0]:\n<zcopy>"}) {
        EXPECT_FALSE(parse_ep_info(text).has_rdma_read) << text;
        EXPECT_EQ(parse_ep_info(text).rendezvous_threshold, 0U) << text;
    }
}

} // namespace
} // namespace zipmpi::transport::ucx
