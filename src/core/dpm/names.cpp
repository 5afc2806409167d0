// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Published service names: one file per name in a directory accessible only to this user. Jobs on hosts that
// share the directory find each other's names.
#include "base/hex.hpp"
#include "base/param.hpp"
#include "core/api/process.hpp"
#include "core/dpm/connect.hpp"
#include "os/fd.hpp"
#include "os/host.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::core {
namespace {

Param<std::string> names_folder{
    "dpm.name_dir",
    "",
    nullptr,
    Level::user,
    Scope::job_wide,
    "directory of published names (MPI_Publish_name); share it to find names on other hosts; "
    "empty: one per user and host"};

constexpr size_t max_name_length = 100; // a file name has at most 255 characters
constexpr size_t max_file_bytes = 4096;

std::map<std::string, std::string>& published() { // service -> port, by this process
    static auto* const all = new std::map<std::string, std::string>;
    return *all;
}

Err find_names_folder(std::string& folder) {
    folder = names_folder.get();
    const bool is_default = folder.empty();
    if (is_default) {
        const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
        const bool usable = runtime != nullptr && access(runtime, W_OK) == 0;
        folder = usable ? std::string(runtime) + "/zipmpi-names"
                        : "/tmp/zipmpi-names-" + std::to_string(geteuid());
        static_cast<void>(mkdir(folder.c_str(), 0700));
    }
    struct stat st {};
    const bool there = lstat(folder.c_str(), &st) == 0;
    const bool is_acceptable =
        there && S_ISDIR(st.st_mode) && (!is_default || (st.st_uid == geteuid() && (st.st_mode & 077) == 0));
    if (is_acceptable) return Err::success;
    return fail(Err::service, "set ZIPMPI_DPM_NAME_DIR to a directory that only you can write to",
                "the directory %s cannot be used for names: %s", folder.c_str(),
                there ? "it belongs to another user, or others have access" : std::strerror(errno));
}

Err service_file(const char* service, std::string& path) {
    if (*service == '\0' || std::strlen(service) > max_name_length)
        return fail(Err::service, "pass a name of 1 to 100 characters", "the service name has %zu characters",
                    std::strlen(service));
    std::string folder;
    if (const Err e = find_names_folder(folder); e != Err::success) return e;
    path = folder + "/" + hex_of(service, std::strlen(service));
    return Err::success;
}

// The first line identifies the publishing process, the second is the port.
bool read_file(const std::string& path, std::string& host, pid_t& pid, std::string& port) {
    const os::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    char text[max_file_bytes];
    const ssize_t n = fd ? read(fd.get(), text, sizeof text) : -1;
    if (n <= 0) return false;
    const std::string all(text, static_cast<size_t>(n));
    const size_t blank = all.find(' ');
    const size_t line = all.find('\n');
    if (blank == std::string::npos || line == std::string::npos || blank > line) return false;
    host = all.substr(0, blank);
    pid = std::atoi(all.c_str() + blank);
    port = all.substr(line + 1);
    return true;
}

// True if the publishing process was killed.
bool is_stale(const std::string& path) {
    std::string host;
    std::string port;
    pid_t pid = 0;
    if (!read_file(path, host, pid, port)) return false;
    return host == os::host_name() && kill(pid, 0) != 0 && errno == ESRCH;
}

} // namespace

Err publish_name(const char* service, Info* /*info*/, const char* port) {
    std::string path;
    if (const Err e = service_file(service, path); e != Err::success) return e;
    const std::string text = os::host_name() + " " + std::to_string(getpid()) + "\n" + port;
    // Written to a temporary file and linked, so that no process reads a partial file; link() does not
    // replace an existing file.
    const std::string temporary = path + "." + std::to_string(getpid());
    os::Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    const bool written = fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (written && is_stale(path)) static_cast<void>(unlink(path.c_str()));
    const bool linked = written && link(temporary.c_str(), path.c_str()) == 0;
    const int error = errno;
    static_cast<void>(unlink(temporary.c_str()));
    if (linked) {
        published()[service] = port;
        return Err::success;
    }
    return fail(Err::service, "publish a name once; unpublish it with MPI_Unpublish_name",
                "\"%.100s\" cannot be published: %s", service,
                error == EEXIST ? "it is already published" : std::strerror(error));
}

Err unpublish_name(const char* service, Info* /*info*/, const char* /*port*/) {
    std::string path;
    if (const Err e = service_file(service, path); e != Err::success) return e;
    if (published().erase(service) != 0 && unlink(path.c_str()) == 0) return Err::success;
    return fail(Err::service, "unpublish only names that this process has published",
                "\"%.100s\" is not published by this process", service);
}

Err lookup_name(const char* service, Info* /*info*/, std::string& port) {
    std::string path;
    std::string host;
    pid_t pid = 0;
    if (const Err e = service_file(service, path); e != Err::success) return e;
    if (read_file(path, host, pid, port) && !is_stale(path)) return Err::success;
    return fail(Err::name, "publish it first; between hosts set ZIPMPI_DPM_NAME_DIR to a shared directory",
                "no service \"%.100s\" is published in %s", service, path.substr(0, path.rfind('/')).c_str());
}

void unpublish_all() {
    std::string path;
    for (const auto& [service, port] : published())
        if (service_file(service.c_str(), path) == Err::success) static_cast<void>(unlink(path.c_str()));
    published().clear();
}

} // namespace zipmpi::core
