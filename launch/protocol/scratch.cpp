// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/scratch.hpp"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

const char* const memory_dir = "/dev/shm";

std::string path_in(const char* dir, const std::string& job_id) {
    return dir != nullptr && *dir == '/' ? std::string(dir) + "/" + job_id : std::string();
}

// mkdir fails if the name exists: no other user can have prepared it.
std::string make_in(const char* dir, const std::string& job_id) {
    std::string path = path_in(dir, job_id);
    return !path.empty() && mkdir(path.c_str(), S_IRWXU) == 0 ? path : std::string();
}

// A directory of this user, not a link: what another user has put there is not removed.
bool is_own_directory(const std::string& path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid();
}

} // namespace

std::string make_file_scratch(const std::string& job_id) {
    for (const char* dir : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/run"})
        if (std::string path = make_in(dir, job_id); !path.empty()) return path;
    return {};
}

std::string make_memory_scratch(const std::string& job_id) { return make_in(memory_dir, job_id); }

void remove_scratch(const std::string& job_id) {
    std::error_code ignored;
    for (const char* dir : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/run", memory_dir})
        if (const std::string path = path_in(dir, job_id); !path.empty() && is_own_directory(path))
            std::filesystem::remove_all(path, ignored);
}

} // namespace zipmpi::launch
