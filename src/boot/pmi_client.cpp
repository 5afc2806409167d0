// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi_client.hpp"

#include "boot/timeouts.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace zipmpi::boot {
namespace {

bool usable_descriptor(int fd, std::string& why) {
    struct stat st {};
    const std::string name = "PMI_FD=" + std::to_string(fd);
    if (fstat(fd, &st) != 0)
        why = name + " is not an open descriptor of this process (" + std::strerror(errno) + ")";
    else if (!S_ISSOCK(st.st_mode))
        why = name + " is open, but it is not a socket";
    else if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) // child processes of this rank must not use it
        why = name + " cannot be marked close-on-exec: " + std::strerror(errno);
    else
        return true;
    return false;
}

bool negotiate_version(PmiConnection& c, int version) {
    const std::string command =
        "cmd=init pmi_version=" + std::to_string(version) + " pmi_subversion=" + (version == 2 ? "0" : "1");
    return c.request(command, "response_to_init", handshake_timeout_seconds() * 1000);
}

} // namespace

std::unique_ptr<Launcher> open_pmi(int fd, bool try_version_2, PmiIdentity& me, std::string& why) {
    if (!usable_descriptor(fd, why)) return nullptr;
    PmiConnection c(fd);
    bool ok = negotiate_version(c, try_version_2 ? 2 : 1);
    if (ok && try_version_2 && c.reply_field_is("rc", "0") && c.reply_field_is("pmi_version", "2")) {
        c.set_framing(Framing::frames);
        return open_pmi2(std::move(c), me, why);
    }
    // The launcher may reject version 2 or accept with version 1; only a rejection needs a second request.
    if (ok && try_version_2 && !c.reply_field_is("rc", "0")) ok = negotiate_version(c, 1);
    if (ok && c.reply_field_is("rc", "0")) return open_pmi1(std::move(c), me, why);
    why = ok ? "the launcher supports neither version 1 nor version 2 of PMI" : c.failure();
    return nullptr;
}

} // namespace zipmpi::boot
