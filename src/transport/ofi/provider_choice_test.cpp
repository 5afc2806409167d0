// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/provider_choice.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string>

namespace zipmpi::transport::ofi {
namespace {

// What fi_getinfo() offers.
class Offers {
  public:
    void add(const char* provider, const char* domain, uint32_t format = FI_FORMAT_UNSPEC,
             const char* first_byte_of_ipv6 = "") {
        Offer& o = offers_.emplace_back();
        o.provider = provider;
        o.domain = domain;
        o.fabric_attr.prov_name = o.provider.data();
        o.domain_attr.name = o.domain.data();
        if (std::string(first_byte_of_ipv6) == "fe80") {
            o.address.sin6_addr.s6_addr[0] = 0xfe;
            o.address.sin6_addr.s6_addr[1] = 0x80;
        }
        o.info.addr_format = format;
        o.info.src_addr = &o.address;
        o.info.fabric_attr = &o.fabric_attr;
        o.info.domain_attr = &o.domain_attr;
        if (offers_.size() > 1) offers_[offers_.size() - 2].info.next = &o.info;
    }
    // Provider, domain and whether the address is IPv6.
    std::string choose(const char* devices, const char* provider = "") {
        const fi_info* const best =
            choose_info(offers_.empty() ? nullptr : &offers_[0].info, devices, provider);
        if (best == nullptr) return "none";
        return std::string(best->fabric_attr->prov_name) + " " + best->domain_attr->name +
               (best->addr_format == FI_SOCKADDR_IN6 ? " 6" : "");
    }

  private:
    struct Offer {
        std::string provider, domain;
        fi_fabric_attr fabric_attr{};
        fi_domain_attr domain_attr{};
        sockaddr_in6 address{};
        fi_info info{};
    };
    std::deque<Offer> offers_;
};

TEST(ProviderChoice, FollowsTheDevices) {
    Offers o;
    o.add("tcp;ofi_rxm", "eth0", FI_SOCKADDR_IN);
    o.add("tcp;ofi_rxm", "eth1", FI_SOCKADDR_IN);
    o.add("tcp;ofi_rxm", "eth10", FI_SOCKADDR_IN);
    EXPECT_EQ(o.choose("eth1"), "tcp;ofi_rxm eth1");
    EXPECT_EQ(o.choose("eth10,eth0"), "tcp;ofi_rxm eth10"); // the first device is preferred
    EXPECT_EQ(o.choose("eth2"), "none");
    EXPECT_EQ(o.choose(""), "tcp;ofi_rxm eth0");
}

TEST(ProviderChoice, PrefersDevicesToTcp) {
    Offers o;
    o.add("tcp;ofi_rxm", "hsn0", FI_SOCKADDR_IN);
    o.add("sockets", "hsn0", FI_SOCKADDR_IN);
    o.add("cxi", "cxi0");
    o.add("efa", "rdmap0s6-rdm");
    EXPECT_EQ(o.choose("cxi0,hsn0"), "cxi cxi0");
    EXPECT_EQ(o.choose("hsn0,rdmap0s6"), "efa rdmap0s6-rdm");
    EXPECT_EQ(o.choose("hsn0"), "tcp;ofi_rxm hsn0");
    EXPECT_EQ(o.choose("hsn0", "sockets"), "sockets hsn0"); // only if the user asks for it
    EXPECT_EQ(o.choose("cxi0:1", "cxi"), "cxi cxi0");
    EXPECT_EQ(o.choose("hsn0", "cxi"), "none");
}

TEST(ProviderChoice, PrefersIpv4) {
    Offers o;
    o.add("tcp", "eth0", FI_SOCKADDR_IN6, "fe80");
    o.add("tcp", "eth0", FI_SOCKADDR_IN6);
    EXPECT_EQ(o.choose("eth0"), "tcp eth0 6");
    o.add("tcp", "eth0", FI_SOCKADDR_IN);
    EXPECT_EQ(o.choose("eth0"), "tcp eth0");
    Offers local;
    local.add("tcp", "eth0", FI_SOCKADDR_IN6, "fe80");
    EXPECT_EQ(local.choose("eth0"), "none");
}

TEST(ProviderChoice, NothingIsOffered) {
    Offers o;
    EXPECT_EQ(o.choose("eth0"), "none");
    o.add("udp;ofi_rxd", "eth0", FI_SOCKADDR_IN);
    EXPECT_EQ(o.choose("eth0"), "none"); // loses messages
}

} // namespace
} // namespace zipmpi::transport::ofi
