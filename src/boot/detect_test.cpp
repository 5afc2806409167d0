// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/detect.hpp"

#include <gtest/gtest.h>

namespace zipmpi::boot {
namespace {

struct Case {
    const char* name;
    std::vector<const char*> env;
    bool ok;
    Protocol protocol;        // if ok
    const char* must_contain; // in `how` if ok, else in why + fix
};

const std::vector<Case> cases{
    {"Empty", {"HOME=/root"}, true, Protocol::singleton, "no sign of a launcher"},
    {"OurMpiexec",
     {"ZIPMPI_NODE_FD=9", "ZIPMPI_LOCAL_INDEX=1", "ZIPMPI_JOB_ID=j", "PMI_FD=8", "PMI_RANK=1", "PMI_SIZE=2"},
     true,
     Protocol::mpiexec,
     "ZIPMPI_NODE_FD=9"},
    {"OurMpiexecInsidePmixStep",
     {"PMIX_NAMESPACE=a", "PMIX_RANK=0", "ZIPMPI_NODE_FD=9", "ZIPMPI_LOCAL_INDEX=1", "ZIPMPI_JOB_ID=j",
      "PMI_FD=8", "PMI_RANK=1", "PMI_SIZE=2"},
     true,
     Protocol::mpiexec,
     "PMI_FD=8"},
    {"OurMpiexecWithoutSegment",
     {"ZIPMPI_JOB_ID=j", "PMI_FD=8", "PMI_RANK=1", "PMI_SIZE=2"},
     true,
     Protocol::pmi1,
     "PMI_FD=8"},
    {"OpenMpi",
     {"PMIX_NAMESPACE=77", "PMIX_RANK=3", "OMPI_COMM_WORLD_SIZE=4"},
     true,
     Protocol::pmix,
     "PMIX_NAMESPACE=77"},
    {"SrunPmix",
     {"PMIX_NAMESPACE=slurm.pmix.1.0", "PMIX_RANK=0", "SLURM_PROCID=0", "SLURM_STEP_ID=0",
      "SLURM_STEP_NUM_TASKS=4"},
     true,
     Protocol::pmix,
     "PMIX_RANK=0"},
    {"SrunPmi2",
     {"PMI_FD=5", "PMI_RANK=0", "PMI_SIZE=2", "PMI_JOBID=1.0", "SLURM_PROCID=0", "SLURM_STEP_ID=0"},
     true,
     Protocol::pmi2,
     "Slurm"},
    {"Hydra",
     {"PMI_FD=6", "PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2"},
     true,
     Protocol::pmi1,
     "PMI_FD=6"},
    {"SrunNone",
     {"SLURM_PROCID=1", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=8", "SLURM_JOB_ID=4"},
     false,
     Protocol::singleton,
     "srun --mpi=pmix or srun --mpi=pmi2"},
    {"SrunNoneOldNames",
     {"SLURM_PROCID=1", "SLURM_STEP_ID=3", "SLURM_NTASKS=8"},
     false,
     Protocol::singleton,
     "8 processes (SLURM_NTASKS=8)"},
    {"SlurmAllocationShell", {"SLURM_JOB_ID=4", "SLURM_NTASKS=8"}, true, Protocol::singleton, "job 4"},
    {"SlurmBatchScript",
     {"SLURM_JOB_ID=4", "SLURM_NTASKS=8", "SLURM_PROCID=0"},
     true,
     Protocol::singleton,
     "job 4"},
    {"SlurmInteractiveStep",
     {"SLURM_JOB_ID=4", "SLURM_NTASKS=8", "SLURM_PROCID=0", "SLURM_STEP_ID=4294967290"},
     true,
     Protocol::singleton,
     "job 4"},
    {"SlurmStepOfOneTask",
     {"SLURM_JOB_ID=4", "SLURM_NTASKS=8", "SLURM_PROCID=0", "SLURM_STEP_ID=1", "SLURM_STEP_NUM_TASKS=1"},
     true,
     Protocol::singleton,
     "job 4"},
    {"ShellWithStepIdOnly", {"SLURM_STEP_ID=0", "SLURM_NTASKS=8"}, true, Protocol::singleton, ""},
    {"OwnVariablesAreNotThoseOfOpenMpi",
     {"ZIPMPI_JOB_ID=j", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1", "MPI_LOCALNRANKS=4"},
     false,
     Protocol::singleton,
     "ZipMPI's mpiexec"},
    {"OpenMpiWithoutPmix", {"OMPI_COMM_WORLD_SIZE=4"}, false, Protocol::singleton, "Open MPI's mpirun"},
    {"OpenMpiOneProcess", {"OMPI_COMM_WORLD_SIZE=1"}, true, Protocol::singleton, ""},
    {"HydraPort", {"PMI_PORT=h:123", "PMI_ID=0"}, false, Protocol::singleton, "-pmi-port"},
    {"PmiWithoutDescriptor", {"PMI_RANK=1", "PMI_SIZE=4"}, false, Protocol::singleton, "PMI_SIZE=4"},
    {"PmiDescriptorNotANumber",
     {"PMI_FD=x", "PMI_RANK=1", "PMI_SIZE=4"},
     false,
     Protocol::singleton,
     "PMI_FD=x"},
    {"PmiRankNotBelowSize",
     {"PMI_FD=6", "PMI_RANK=4", "PMI_SIZE=4"},
     false,
     Protocol::singleton,
     "below the size"},
    {"PmiDescriptorAlone", {"PMI_FD=6"}, false, Protocol::singleton, "env -u PMI_FD"},
    {"Pals", {"PALS_RANKID=1", "PALS_NODEID=0", "PALS_LOCAL_SIZE=4"}, false, Protocol::singleton, "PALS"},
    {"HydraVariablesLost", {"MPI_LOCALNRANKS=4"}, false, Protocol::singleton, "MPI_LOCALNRANKS=4"},
    {"Jsrun", {"JSM_NAMESPACE_SIZE=4"}, false, Protocol::singleton, "jsrun"},
    {"Flux", {"FLUX_JOB_SIZE=4", "FLUX_TASK_RANK=0"}, false, Protocol::singleton, "flux"},
    {"EmptyVariablesAreNotSet",
     {"PMI_FD=", "PMIX_NAMESPACE=", "PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE="},
     true,
     Protocol::singleton,
     ""},
};

class Detect : public testing::TestWithParam<Case> {};

TEST_P(Detect, SelectsProtocolOrReportsReason) {
    const Case& c = GetParam();
    std::vector<const char*> env = c.env;
    env.push_back(nullptr);
    Detection found;
    Diagnostic why;
    ASSERT_EQ(detect(Environment(env.data()), found, why), c.ok) << format(why);
    const std::string text = c.ok ? found.how : why.why + " | " + why.fix;
    EXPECT_NE(text.find(c.must_contain), std::string::npos) << text;
    if (c.ok) {
        EXPECT_EQ(found.protocol, c.protocol);
        EXPECT_FALSE(found.how.empty());
    } else {
        for (const auto& part : {why.what, why.where, why.why, why.fix}) EXPECT_FALSE(part.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Detect, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Detection, HasValuesOfTheEnvironment) {
    const char* env[] = {"ZIPMPI_NODE_FD=9",
                         "ZIPMPI_LOCAL_INDEX=1",
                         "ZIPMPI_JOB_ID=j",
                         "PMI_FD=8",
                         "PMI_RANK=3",
                         "PMI_SIZE=7",
                         nullptr};
    Detection d;
    Diagnostic why;
    ASSERT_TRUE(detect(Environment(env), d, why));
    EXPECT_EQ(d.rank, 3);
    EXPECT_EQ(d.size, 7);
    EXPECT_EQ(d.pmi_fd, 8);
    EXPECT_EQ(d.node_fd, 9);
    EXPECT_EQ(d.local_index, 1);
    EXPECT_EQ(d.job_id, "j");
}

TEST(Environment, FindsWholeNamesOnly) {
    const char* strings[] = {"PMI_RANKS=5", "XPMI_RANK=6", "PMI_RANK=7", "BROKEN", nullptr};
    const Environment env(strings);
    EXPECT_EQ(env.get("PMI_RANK"), "7");
    EXPECT_EQ(env.get("BROKEN"), "");
    EXPECT_FALSE(Environment(nullptr).has("PMI_RANK"));
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "99999999999999999999"})
        EXPECT_FALSE(whole_number(bad)) << bad;
}

} // namespace
} // namespace zipmpi::boot
