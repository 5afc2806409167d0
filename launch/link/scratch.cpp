// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/link/scratch.hpp"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

namespace zipmpi::launch {
namespace {

const char* const memory_place = "/dev/shm";

std::string path_in(const char* place, const std::string& job_id) {
    return place != nullptr && *place == '/' ? std::string(place) + "/" + job_id : std::string();
}

// mkdir refuses what exists already: nobody can have laid it there for us.
std::string make_in(const char* place, const std::string& job_id) {
    std::string path = path_in(place, job_id);
    return !path.empty() && mkdir(path.c_str(), S_IRWXU) == 0 ? path : std::string();
}

} // namespace

std::string make_file_scratch(const std::string& job_id) {
    for (const char* place : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/run"})
        if (std::string path = make_in(place, job_id); !path.empty()) return path;
    return {};
}

std::string make_memory_scratch(const std::string& job_id) { return make_in(memory_place, job_id); }

void remove_scratch(const std::string& job_id) {
    std::error_code ignored;
    for (const char* place : {static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/run", memory_place})
        if (const std::string path = path_in(place, job_id); !path.empty())
            std::filesystem::remove_all(path, ignored);
}

} // namespace zipmpi::launch
