// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/lanes.hpp"

#include <gtest/gtest.h>

namespace zipmpi::transport::ucx {
namespace {

TEST(Way, RdmaReadsMemory) {
    const Way way = read_way("#   lane[0]:  1:rc_verbs/rxe1:1.0 md[1] -> md[1]/ib/sysdev[255] rma_bw#0 am\n"
                             "#\n"
                             "#   am_send: 0..<egr/short>..72..<egr/bcopy>..14472..<rndv>..(inf)\n"
                             "#    put[0]: 0..<short>..81..<bcopy>..16384..<zcopy>..(inf)\n"
                             "#    get[0]: 0..<bcopy>..945..<zcopy>..(inf)\n");
    EXPECT_TRUE(way.reads_memory);
    EXPECT_EQ(way.rendezvous_from, 14472U);
}

TEST(Way, TcpDoesNot) {
    const Way way = read_way("#   lane[0]:  0:tcp/lo.0 md[0] -> md[0]/tcp/sysdev[255] rma_bw#0 am wireup\n"
                             "#   am_send: 0..<egr/short>..8185..<egr/zcopy>..20553..<rndv>..(inf)\n");
    EXPECT_FALSE(way.reads_memory);
    EXPECT_EQ(way.rendezvous_from, 20553U);
}

TEST(Way, NonsenseSaysNothing) {
    for (const char* text :
         {"", " am_send:", " am_send: ..<rndv>", " am_send:..x..<rndv>", " get[0]:\n<zcopy>"}) {
        EXPECT_FALSE(read_way(text).reads_memory) << text;
        EXPECT_EQ(read_way(text).rendezvous_from, 0U) << text;
    }
}

} // namespace
} // namespace zipmpi::transport::ucx
