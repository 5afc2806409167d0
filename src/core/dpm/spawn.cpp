// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dpm/spawn.hpp"

#include "base/param.hpp"
#include "core/api/process.hpp"
#include "core/dpm/port.hpp"
#include "core/runtime_state.hpp"
#include "os/arguments.hpp"
#include "os/module_folder.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::core {
namespace {

Param<std::string> spawn_mpiexec{
    "dpm.mpiexec", "",           nullptr,
    Level::user,   Scope::local, "mpiexec started by MPI_Comm_spawn; empty: this installation's"};

// During its lifetime the thread may run on all CPUs of the host instead of those that this rank is bound to.
class ScopedFullAffinity {
  public:
    ScopedFullAffinity() {
        is_saved_ = sched_getaffinity(0, sizeof saved_, &saved_) == 0;
        cpu_set_t all;
        std::memset(&all, 0xff, sizeof all); // the kernel removes absent and forbidden CPUs
        if (is_saved_) static_cast<void>(sched_setaffinity(0, sizeof all, &all));
    }
    ~ScopedFullAffinity() {
        if (is_saved_) static_cast<void>(sched_setaffinity(0, sizeof saved_, &saved_));
    }
    ScopedFullAffinity(const ScopedFullAffinity&) = delete;
    ScopedFullAffinity& operator=(const ScopedFullAffinity&) = delete;

  private:
    cpu_set_t saved_{};
    bool is_saved_ = false;
};

// Standard output and error are those of this process, standard input is empty. Returns 0 or an error number.
int start_mpiexec(std::vector<std::string> arguments, const std::string& folder, const std::string& port,
                  pid_t& pid) {
    std::vector<std::string> environment = {"ZIPMPI_SPAWN_PORT=" + port};
    for (char** e = environ; *e != nullptr; ++e) environment.emplace_back(*e);
    const std::vector<char*> argv = os::pointers_to(arguments);
    const std::vector<char*> envp = os::pointers_to(environment);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) return ENOMEM;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    const ScopedFullAffinity full_affinity;
    const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

std::string mpiexec_path() {
    return spawn_mpiexec.get().empty() ? os::program_path("mpiexec") : spawn_mpiexec.get();
}

// Waits until the children have called MPI_Init or mpiexec exits.
Err spawn_children(const std::vector<AppSpec>& apps, const Contacts& own_contacts,
                   ConnectInfo& connect_info) {
    const std::string mpiexec = mpiexec_path();
    if (mpiexec.empty())
        return fail(Err::spawn, "set ZIPMPI_DPM_MPIEXEC to the path of ZipMPI's mpiexec",
                    "mpiexec is not in the installation directory of the library");
    std::vector<std::string> arguments;
    std::string folder;
    if (const Err e = mpiexec_command(apps, mpiexec, arguments, folder); e != Err::success) return e;
    Port port;
    if (const Err e = make_port(port); e != Err::success) return e;
    pid_t pid = -1;
    if (const int error = start_mpiexec(arguments, folder, port.name(), pid); error != 0)
        return fail(Err::spawn, "check the directory (info key wdir) and the process limit (ulimit -u)",
                    "%s cannot be started: %s", mpiexec.c_str(), std::strerror(error));
    const auto check_running = [pid, &apps] {
        int status = 0;
        const pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno != ECHILD)) return Err::success;
        return fail(Err::spawn, "see the output of its mpiexec; the program must call MPI_Init",
                    "the job of %s ended, with status %d, before its ranks had called MPI_Init",
                    apps[0].program.c_str(),
                    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    };
    const Err e = accept_on(port, own_contacts, check_running, connect_info);
    boot::Launcher* const launcher = runtime()->job.launcher.get();
    if (e == Err::success && launcher != nullptr) // it may outlive this rank
        static_cast<void>(launcher->notify("what=spawned pid=" + std::to_string(pid)));
    return e;
}

} // namespace

Err comm_spawn(const std::vector<AppSpec>& apps, int root, Comm& comm, Comm*& result) {
    return connect_groups(
        comm, root,
        [&apps](const Contacts& own_contacts, ConnectInfo& connect_info) {
            return spawn_children(apps, own_contacts, connect_info);
        },
        result);
}

} // namespace zipmpi::core
