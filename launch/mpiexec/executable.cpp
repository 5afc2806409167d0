// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/executable.hpp"

#include "os/host.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// 0 if it can be executed, otherwise errno.
int check_executable(const std::string& path) {
    struct stat st {};
    if (stat(path.c_str(), &st) != 0) return errno;
    if (S_ISDIR(st.st_mode)) return EISDIR;
    return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// Searches a list of directories.
int search_in(std::string_view directories, const std::string& name, std::string& path) {
    int error = ENOENT;
    for (bool more = true; more && error != 0;) {
        const size_t colon = directories.find(':');
        more = colon != std::string_view::npos;
        const std::string dir(directories.substr(0, colon));
        path = (dir.empty() ? "." : dir) + "/" + name;
        const int e = check_executable(path);
        if (e != ENOENT && e != ENOTDIR) error = e == EISDIR ? error : e;
        if (more) directories.remove_prefix(colon + 1);
    }
    return error;
}

std::string absolute(const std::string& path) {
    std::error_code none;
    const std::filesystem::path whole = std::filesystem::absolute(path, none);
    return none ? path : whole.lexically_normal().string();
}

} // namespace

bool is_executable(const std::string& path) { return check_executable(path) == 0; }

bool find_program(const std::string& name, const ProgramSearch& from, std::string& path, Diagnostic& why,
                  int& exit_code) {
    int error = ENOENT;
    if (name.find('/') != std::string::npos) {
        path = from.directory.empty() || name[0] == '/' ? name : from.directory + "/" + name;
        error = check_executable(path);
    } else {
        const char* variable = std::getenv("PATH");
        if (!from.search.empty()) error = search_in(from.search, name, path);
        if (error != 0)
            error = search_in(variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin", name, path);
    }
    if (!from.directory.empty()) path = absolute(path); // it will be started from there
    if (error == 0) return true;
    exit_code = error == ENOENT || error == ENOTDIR ? 127 : 126;
    why.what = "the program " + name + " cannot be started";
    why.where = "host " + os::host_name();
    why.why = std::strerror(error);
    why.fix = error == EISDIR                       ? "name a program, not a directory"
              : exit_code == 126                    ? "make the file executable: chmod +x " + name
              : name.find('/') != std::string::npos ? "check the name and that the file exists on this host"
              : access(name.c_str(), X_OK) == 0
                  ? "it is not in PATH but in the current directory: write ./" + name
                  : "check the name; a program without '/' is searched in PATH";
    return false;
}

} // namespace zipmpi::launch
