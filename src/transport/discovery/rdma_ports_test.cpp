// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/discovery/rdma_ports.hpp"

#include "transport/discovery/ofi_devices.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace zipmpi::transport::discovery {
namespace {

namespace fs = std::filesystem;

// Directories like those of the kernel.
class Rdma : public testing::Test {
  protected:
    Rdma() {
        char name[] = "/tmp/zipmpi-rdma-XXXXXX";
        top_ = mkdtemp(name);
        paths_ = {top_ + "/sys", top_ + "/dev"};
    }
    ~Rdma() override { fs::remove_all(top_); }

    void write(const std::string& file, const std::string& text) const {
        const fs::path path = top_ + "/" + file;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
    void add_device(const std::string& name, const std::string& verbs, const std::string& state) const {
        write("sys/infiniband/" + name + "/ports/1/state", state);
        write("sys/infiniband_verbs/" + verbs + "/ibdev", name);
        write("dev/" + verbs, "");
    }

    std::string top_;
    SysfsPaths paths_;
};

TEST_F(Rdma, NoneWithoutDevices) { EXPECT_TRUE(rdma_ports_of("eth0", paths_).empty()); }

TEST_F(Rdma, GidsNameTheInterface) {
    add_device("rocep1", "uverbs0", "4: ACTIVE");
    write("sys/infiniband/rocep1/ports/1/gid_attrs/ndevs/0", "");
    write("sys/infiniband/rocep1/ports/1/gid_attrs/ndevs/1", "eth1");
    EXPECT_TRUE(rdma_ports_of("eth0", paths_).empty());
    EXPECT_TRUE(rdma_ports_of("eth", paths_).empty()) << "no match by prefix";
    const auto found = rdma_ports_of("eth1", paths_);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, "rocep1:1");
}

TEST_F(Rdma, InterfaceMayBeChildOfDevice) {
    add_device("mlx5_0", "uverbs0", "4: ACTIVE");
    write("sys/infiniband/mlx5_0/ports/2/state", "4: ACTIVE");
    write("sys/net/ib0/device/infiniband/mlx5_0/fw_ver", "1");
    write("sys/net/ib0/dev_port", "1");
    const auto found = rdma_ports_of("ib0", paths_);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, "mlx5_0:2");
}

TEST_F(Rdma, PortThatIsDownIsSkipped) {
    add_device("rocep1", "uverbs0", "1: DOWN");
    write("sys/infiniband/rocep1/ports/1/gid_attrs/ndevs/0", "eth1");
    EXPECT_TRUE(rdma_ports_of("eth1", paths_).empty());
}

TEST_F(Rdma, UnusableDeviceReportsReason) {
    add_device("rocep1", "uverbs0", "4: ACTIVE");
    write("sys/infiniband/rocep1/ports/1/gid_attrs/ndevs/0", "eth1");
    fs::remove(top_ + "/dev/uverbs0");
    const auto found = rdma_ports_of("eth1", paths_);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].error.find("uverbs0: No such file"), std::string::npos) << found[0].error;
}

TEST_F(Rdma, EmulatedDevicesHaveAParent) {
    add_device("rxe0", "uverbs0", "4: ACTIVE");
    EXPECT_FALSE(is_emulated("rxe0:1", paths_));
    write("sys/infiniband/rxe0/parent", "eth0");
    EXPECT_TRUE(is_emulated("rxe0:1", paths_));
}

TEST_F(Rdma, DevicesThatOnlyLibfabricDrives) {
    EXPECT_EQ(ofi_devices(paths_), "");
    add_device("mlx5_0", "uverbs0", "4: ACTIVE");
    add_device("rdmap0s6", "uverbs1", "4: ACTIVE");
    fs::create_directories(top_ + "/sys/infiniband/mlx5_0/device");
    fs::create_directories(top_ + "/sys/infiniband/rdmap0s6/device");
    fs::create_symlink("../../bus/pci/drivers/mlx5_core", top_ + "/sys/infiniband/mlx5_0/device/driver");
    EXPECT_EQ(ofi_devices(paths_), "");
    fs::create_symlink("../../bus/pci/drivers/efa", top_ + "/sys/infiniband/rdmap0s6/device/driver");
    EXPECT_EQ(ofi_devices(paths_), "rdmap0s6");
    write("sys/cxi/cxi1/device/properties/nid", "2");
    write("sys/cxi/cxi0/device/properties/nid", "1");
    EXPECT_EQ(ofi_devices(paths_), "cxi0,cxi1,rdmap0s6");
    EXPECT_TRUE(has_ofi_device("eth0,cxi1", paths_));
    EXPECT_TRUE(has_ofi_device("rdmap0s6", paths_));
    EXPECT_FALSE(has_ofi_device("eth0,mlx5_0:1,cxi", paths_));
    EXPECT_FALSE(has_ofi_device("", paths_));
}

} // namespace
} // namespace zipmpi::transport::discovery
