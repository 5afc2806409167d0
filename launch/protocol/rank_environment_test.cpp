// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/rank_environment.hpp"

#include "launch/mpiexec/forwarded_environment.hpp"

#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

TEST(Environment, RemovesVariablesOfOuterLaunchers) {
    for (const char* name :
         {"PMI_RANK", "PMI_FD", "PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK", "ZIPMPI_NODE_FD",
          "ZIPMPI_LOCAL_INDEX", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_RANK",
          "OMPI_COMM_WORLD_NODE_RANK", "OMPI_MCA_orte_hnp_uri"})
        EXPECT_TRUE(is_launcher_variable(name)) << name;
    for (const char* name : {"SLURM_JOB_ID", "PATH", "OMPI_MCA_pml", "PMIX_MCA_gds",
                             "ZIPMPI_SHM_CELLS_PER_RANK", "PMI", "MPIEXEC_TIMEOUT"})
        EXPECT_FALSE(is_launcher_variable(name)) << name;
    const char* env[] = {"A=1", "PMI_RANK=0", "B=", nullptr};
    EXPECT_EQ(remove_launcher_variables(env), (std::vector<std::string>{"A=1", "B="}));
}

TEST(Environment, ForwardsCommonAndListedVariables) {
    for (const char* name : {"PATH", "HOME", "LC_ALL", "OMP_NUM_THREADS", "ZIPMPI_CMA_ENABLE", "PYTHONPATH",
                             "LD_LIBRARY_PATH", "SLURM_JOB_ID", "OMPI_MCA_pml", "UCX_TLS"})
        EXPECT_TRUE(is_forwarded(name, "")) << name;
    for (const char* name : {"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN", "PGPASSWORD", "PATHS",
                             "GOOGLE_APPLICATION_CREDENTIALS", "MY_GRID", "SLURM_JWT", "CONDA_TOKEN", ""})
        EXPECT_FALSE(is_forwarded(name, "")) << name;
    EXPECT_TRUE(is_forwarded("MY_GRID", "OTHER,MY_GRID"));
    EXPECT_TRUE(is_forwarded("MY_GRID", "MY_*,"));
    EXPECT_TRUE(is_forwarded("MY_GRID", "*"));
    EXPECT_FALSE(is_forwarded("MY_GRID", ",MY,OTHER"));
    EXPECT_TRUE(is_forwarded("SLURM_JWT", "SLURM_JWT")); // named by the user
}

TEST(Environment, ChangesReplaceAndAdd) {
    EXPECT_EQ(merge_env({"A=1", "AB=2"}, {"A=3", "C=4", "C=5"}),
              (std::vector<std::string>{"A=3", "AB=2", "C=5"}));
}

TEST(Environment, FolderIsPutFirst) {
    std::vector<std::string> env = {"PATH=/bin", "MY_PATH=/a", "LD_LIBRARY_PATH="};
    prepend_to_path(env, "PATH", "/opt/bin");
    prepend_to_path(env, "LD_LIBRARY_PATH", "/opt/lib");
    EXPECT_EQ(env,
              (std::vector<std::string>{"PATH=/opt/bin:/bin", "MY_PATH=/a", "LD_LIBRARY_PATH=/opt/lib"}));
}

} // namespace
