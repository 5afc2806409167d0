// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/forwarded_environment.hpp"

#include "launch/mpiexec/actions.hpp"

#include <algorithm>
#include <iterator>

namespace zipmpi::launch {
namespace {

constexpr std::string_view common[] = {
    // user, directories, locale, terminal
    "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "LANG", "LANGUAGE", "LC_*", "TZ",
    "TERM", "COLUMNS", "LINES", "DISPLAY", "XAUTHORITY", "SCRATCH", "SCRATCHDIR", "WORK", "WORKDIR",
    // programs and libraries
    "PATH", "LD_*", "LIBRARY_PATH", "CPATH", "MANPATH", "INFOPATH", "PKG_CONFIG_PATH", "CMAKE_*",
    "XDG_DATA_*", "MODULE*", "LOADEDMODULES", "_LMFILES_", "LMOD_*", "__LMOD_*", "EASYBUILD_*", "EBROOT*",
    "SPACK_*", "NIX_*",
    // languages
    "PYTHON*", "VIRTUAL_ENV*", "CONDA_*", "PERL*", "R_*", "JULIA_*", "LUA_*", "JAVA_HOME", "CLASSPATH",
    "GFORTRAN_*", "FOR_*", "FORT_*", "MATLAB*", "NUMBA_*", "JAX_*", "XLA_*", "TF_CPP_*", "TORCH_*",
    "PYTORCH_*", "MASTER_ADDR", "MASTER_PORT", "PETSC_*", "SLEPC_*",
    // threads, memory, mathematics
    "OMP_*", "GOMP_*", "KMP_*", "LIBOMP*", "OPENBLAS_*", "GOTO_*", "BLIS_*", "MKL_*", "VECLIB_*", "TBB_*",
    "KOKKOS_*", "MALLOC_*", "GLIBC_TUNABLES", "HUGETLB_*", "FFTW_*", "HDF5_*", "NETCDF_*", "ADIOS*",
    "ROMIO_*",
    // devices
    "CUDA_*", "NVIDIA_*", "NCCL_*", "NVSHMEM_*", "HIP_*", "ROCM_*", "ROCR_*", "HSA_*", "ZE_*", "ONEAPI_*",
    "SYCL_*", "OCL_*", "OPENCL_*", "GPU_*",
    // MPI libraries and networks
    "ZIPMPI_*", "MPI_*", "MPIEXEC_*", "OMPI_*", "PMIX_MCA_*", "PRTE_MCA_*", "MPICH_*", "MPIR_*", "I_MPI_*",
    "MV2_*", "HYDRA_*", "UCX_*", "UCC_*", "FI_*", "PSM*", "IBV_*", "MLX*", "HCOLL_*", "SHARP_*",
    // batch systems
    "SLURM*", "SBATCH_*", "SRUN_*", "PBS_*", "TORQUE_*", "LSB_*", "LSF_*", "SGE_*", "PE_*", "NSLOTS",
    "NHOSTS", "JOB_ID", "JOB_NAME", "COBALT_*", "FLUX_*", "OAR_*",
    // debugging and measuring
    "ASAN_*", "LSAN_*", "MSAN_*", "TSAN_*", "UBSAN_*", "GCOV_*", "LLVM_PROFILE_FILE", "VALGRIND_*",
    "DEBUGINFOD_*", "SCOREP_*", "TAU_*", "VT_*", "DARSHAN_*", "CALI_*", "PAPI_*", "EXTRAE_*", "ALLINEA_*"};

// Parts of names of variables that are secrets even if a prefix above fits (SLURM_JWT).
constexpr std::string_view secret[] = {"TOKEN",  "SECRET",     "PASSW",   "CREDENTIAL", "JWT",
                                       "COOKIE", "ACCESS_KEY", "API_KEY", "PRIVATE_KEY"};

bool is_common(std::string_view variable) {
    const auto matches = [variable](std::string_view name) { return matches_name(name, variable); };
    const auto contains = [variable](std::string_view part) {
        return variable.find(part) != std::string_view::npos;
    };
    return std::any_of(std::begin(common), std::end(common), matches) &&
           std::none_of(std::begin(secret), std::end(secret), contains);
}

} // namespace

bool matches_name(std::string_view name, std::string_view variable) {
    if (!name.ends_with('*')) return variable == name;
    return variable.starts_with(name.substr(0, name.size() - 1));
}

bool is_forwarded(std::string_view variable, std::string_view more) {
    if (is_common(variable)) return true;
    const std::vector<std::string> names = split(more, ',');
    return std::any_of(names.begin(), names.end(),
                       [variable](const std::string& name) { return matches_name(name, variable); });
}

} // namespace zipmpi::launch
