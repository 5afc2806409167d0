// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// zipmpi-noded: the daemon of a host that is not mpiexec's. Started by a launch agent; it reads from its
// standard input who it is and where its parent listens.
#include "launch/noded/noded.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {
constexpr int bootstrap_ms = 30'000;
constexpr int connect_ms = 20'000;
} // namespace

int main() {
    for (int fd = 0; fd < 3; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return 1;
    prctl(PR_SET_DUMPABLE, 0); // the key of the job is in this memory
    signal(SIGPIPE, SIG_IGN);
    Bootstrap b;
    Problem why;
    if (!read_bootstrap(STDIN_FILENO, bootstrap_ms, b)) {
        report({"zipmpi-noded is not a command for users", "",
                "its standard input does not have what mpiexec sends to a daemon",
                "use mpiexec; on all hosts from one installation of ZipMPI"},
               "zipmpi-noded");
        return 2;
    }
    os::Fd parent = connect_to_parent(b, connect_ms, why);
    if (!parent) {
        report(why, "zipmpi-noded");
        return 1;
    }
    return noded_main(std::move(parent), b.place, &b.key);
}
