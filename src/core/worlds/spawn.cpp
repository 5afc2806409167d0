// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/worlds/spawn.hpp"

#include "base/param.hpp"
#include "boot/module_folder.hpp"
#include "core/state.hpp"
#include "core/worlds/port.hpp"
#include "os/arguments.hpp"

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
    "spawn.mpiexec", "",
    nullptr,         Level::user,
    Scope::local,    "the mpiexec that MPI_Comm_spawn starts; empty: that of this installation"};

// All CPUs that this host gives, instead of those that this rank is bound to, until it goes out of scope.
class AnyCpu {
  public:
    AnyCpu() {
        known_ = sched_getaffinity(0, sizeof own_, &own_) == 0;
        cpu_set_t all;
        std::memset(&all, 0xff, sizeof all); // the kernel takes away what is not there or not allowed
        if (known_) static_cast<void>(sched_setaffinity(0, sizeof all, &all));
    }
    ~AnyCpu() {
        if (known_) static_cast<void>(sched_setaffinity(0, sizeof own_, &own_));
    }
    AnyCpu(const AnyCpu&) = delete;
    AnyCpu& operator=(const AnyCpu&) = delete;

  private:
    cpu_set_t own_{};
    bool known_ = false;
};

// Its standard output and error are those of this process, its input is empty. 0, or an error number.
int start(std::vector<std::string> words, const std::string& folder, const std::string& port, pid_t& pid) {
    std::vector<std::string> environment = {"ZIPMPI_SPAWN_PORT=" + port};
    for (char** e = environ; *e != nullptr; ++e) environment.emplace_back(*e);
    const std::vector<char*> argv = os::pointers_to(words);
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
    const AnyCpu meanwhile;
    const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

std::string path_of_mpiexec() {
    return spawn_mpiexec.get().empty() ? boot::program_path("mpiexec") : spawn_mpiexec.get();
}

// Waits for the children to call MPI_Init, or for mpiexec to end.
Err raise_children(const std::vector<Crew>& crews, const Cards& own, Deal& deal) {
    const std::string mpiexec = path_of_mpiexec();
    if (mpiexec.empty())
        return fail(Err::spawn, "name it in ZIPMPI_SPAWN_MPIEXEC",
                    "the mpiexec of ZipMPI is not where the library was installed");
    std::vector<std::string> words;
    std::string folder;
    if (const Err e = command_for(crews, mpiexec, words, folder); e != Err::success) return e;
    Port port;
    if (const Err e = make_port(port); e != Err::success) return e;
    pid_t pid = -1;
    if (const int error = start(words, folder, port.name(), pid); error != 0)
        return fail(Err::spawn, "check the folder (info key wdir), and limits of processes (ulimit -u)",
                    "%s cannot be started: %s", mpiexec.c_str(), std::strerror(error));
    const auto still_there = [pid, &crews] {
        int status = 0;
        const pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno != ECHILD)) return Err::success;
        return fail(Err::spawn, "see what its mpiexec has printed; the program must call MPI_Init",
                    "the job of %s ended, with status %d, before its ranks had called MPI_Init",
                    crews[0].program.c_str(),
                    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    };
    const Err e = accept_on(port, own, still_there, deal);
    boot::Launcher* const launcher = engine()->job.launcher.get();
    if (e == Err::success && launcher != nullptr) // it may outlive this rank
        static_cast<void>(launcher->tell("what=spawned pid=" + std::to_string(pid)));
    return e;
}

} // namespace

Err comm_spawn(const std::vector<Crew>& crews, int root, Comm& comm, Comm*& result) {
    return meet(
        comm, root, [&crews](const Cards& own, Deal& deal) { return raise_children(crews, own, deal); },
        result);
}

} // namespace zipmpi::core
