// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/rank_launcher.hpp"

#include "launch/noded/affinity.hpp"
#include "launch/noded/descriptors.hpp"
#include "launch/noded/process_spawn.hpp"

#include "os/arguments.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace zipmpi::launch {

std::vector<std::string> RankLauncher::environment(uint32_t local, int pmi_fd) const {
    const StartRequest& request = job_.request();
    const std::string rank = std::to_string(ranks_[local].world_rank);
    const std::string size = std::to_string(request.world_size);
    const std::string local_rank = std::to_string(local);
    const std::string local_size = std::to_string(ranks_.size());
    std::vector<std::string> own = {
        "PMI_FD=" + std::to_string(pmi_fd),
        "PMI_RANK=" + rank,
        "PMI_SIZE=" + size,
        "PMI_SPAWNED=0",
        "PMI_JOBID=" + request.job_id,
        "ZIPMPI_NODE_FD=" + std::to_string(job_.segment().fd()),
        "ZIPMPI_LOCAL_INDEX=" + local_rank,
        "ZIPMPI_JOB_ID=" + request.job_id,
        "ZIPMPI_APP_NUMBER=" + std::to_string(ranks_[local].app),
        "MPI_LOCALRANKID=" + local_rank,
        "MPI_LOCALNRANKS=" + local_size,
        "OMPI_COMM_WORLD_RANK=" + rank, // scripts use these to choose files or GPUs
        "OMPI_COMM_WORLD_SIZE=" + size,
        "OMPI_COMM_WORLD_LOCAL_RANK=" + local_rank,
        "OMPI_COMM_WORLD_LOCAL_SIZE=" + local_size,
        "OMPI_COMM_WORLD_NODE_RANK=" + local_rank,
    };
    if (job_.hold_fd() >= 0) own.push_back("ZIPMPI_HOLD_FD=" + std::to_string(job_.hold_fd()));
    if (!job_.is_single_node()) {
        own.push_back("ZIPMPI_NODE_INDEX=" + std::to_string(job_.segment().node()));
        own.push_back("ZIPMPI_NODES=" + std::to_string(job_.segment().nodes()));
    }
    if (!request.cluster_map.empty()) own.push_back("ZIPMPI_CLUSTERS=" + request.cluster_map);
    services_.pmix.add_environment(ranks_[local].world_rank, own);
    return own;
}

const char* RankLauncher::open_descriptors(uint32_t world_rank, RankEnds& rank, DaemonEnds& own) {
    for (uint32_t s = 0; s < services_.outputs.pipes_per_rank(); ++s)
        if (!OutputForwarder::make_pipe(own.output[s], rank.output[s])) return "create a pipe for its output";
    if (!PmiService::make_socket(own.pmi, rank.pmi)) return "create its socket";
    for (os::Fd& end : own.output) move_above_inherited(end);
    move_above_inherited(own.pmi);
    if (services_.input.reads_stdin(world_rank)) {
        rank.in = services_.input.open_reader();
        return rank.in ? nullptr : "create a pipe for its input";
    }
    rank.in.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return rank.in ? nullptr : "open /dev/null for its input";
}

pid_t RankLauncher::spawn_rank(uint32_t local, const RankEnds& ends, const CpuList& cpus,
                               const char*& step) const {
    const AppContext& app = job_.request().apps[ranks_[local].app];
    std::vector<std::string> own = environment(local, ends.pmi.get());
    std::vector<char*> envp = os::pointers_to(defaults_.app_env[ranks_[local].app]);
    envp.pop_back();
    for (std::string& variable : own) envp.push_back(variable.data());
    envp.push_back(nullptr);
    std::vector<std::string> words = app.argv;
    const std::vector<char*> argv = os::pointers_to(words);
    CpuSet allowed(cpus);

    SpawnArgs plan;
    plan.path = app.path.c_str();
    plan.argv = argv.data();
    plan.envp = envp.data();
    plan.directory = app.directory.empty() ? nullptr : app.directory.c_str();
    plan.stdio[0] = ends.in.get();
    plan.stdio[1] = ends.output[0].get();
    plan.stdio[2] = ends.output[services_.outputs.pipes_per_rank() - 1].get();
    plan.inherit[0] = ends.pmi.get();
    plan.inherit[1] = job_.segment().fd();
    plan.inherit[2] = job_.hold_fd();
    plan.highest_inherited = defaults_.highest_inherited;
    plan.cpus = cpus.empty() ? nullptr : allowed.get();
    plan.cpu_bytes = allowed.bytes();
    plan.open_files = defaults_.open_files;
    plan.ignored = defaults_.ignored_signals;
    step = "start it";
    return spawn(plan, step);
}

Diagnostic RankLauncher::describe_failure(uint32_t local, const char* step, int error) const {
    const AppContext& app = job_.request().apps[ranks_[local].app];
    const bool in_directory = std::strcmp(step, enter_directory) == 0;
    return {"rank " + std::to_string(ranks_[local].world_rank) + " could not be started",
            "host " + job_.host() + (in_directory ? ", directory " + app.directory : ", program " + app.path),
            std::string("mpiexec could not ") + step + ": " + std::strerror(error),
            in_directory      ? "check --wdir; the directory must exist on all hosts of the job"
            : error == ENOENT ? "check the program's name, and for a script the interpreter in its first line"
            : error == EACCES
                ? "make the file executable (chmod +x), and check the permissions of its directories"
            : error == EMFILE || error == EAGAIN
                ? "raise the limits of processes and open files (ulimit -u, -n)"
                : "check that the file is a program for this machine"};
}

bool RankLauncher::start(uint32_t local, const CpuList& cpus, Diagnostic& why) {
    RankEnds ends;
    DaemonEnds own;
    const char* step = open_descriptors(ranks_[local].world_rank, ends, own);
    const pid_t pid = step == nullptr ? spawn_rank(local, ends, cpus, step) : -1;
    if (pid < 0) {
        const int error = errno;
        why = describe_failure(local, step, error);
        errno = error;
        return false;
    }
    ranks_.on_started(local, pid);
    for (const OutputStream stream : {OutputStream::out, OutputStream::err})
        if (os::Fd& pipe = own.output[static_cast<size_t>(stream)]; pipe)
            services_.outputs.add_pipe(local, stream, std::move(pipe));
    services_.pmi.connect(local, std::move(own.pmi));
    return true;
}

} // namespace zipmpi::launch
