// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/job_discovery.hpp"

#include "os/process_status.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

struct CloseFolder {
    void operator()(DIR* d) const { closedir(d); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

void add_file(const std::string& path, pid_t pid, std::vector<SharedFile>& files) {
    struct stat st {};
    if (stat(path.c_str(), &st) != 0) return;
    const auto known = std::find_if(files.begin(), files.end(), [&](const SharedFile& f) {
        return f.device == st.st_dev && f.inode == st.st_ino;
    });
    if (known != files.end()) {
        if (known->holders.back() != pid) known->holders.push_back(pid);
        return;
    }
    os::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return;
    files.push_back({st.st_dev, st.st_ino, {pid}, std::move(fd)});
}

void scan_process(pid_t pid, const std::string& target, std::vector<SharedFile>& files) {
    const std::string path = "/proc/" + std::to_string(pid) + "/fd";
    const Folder folder(opendir(path.c_str()));
    if (!folder) return; // of another user, or exited
    while (const dirent* entry = readdir(folder.get())) {
        const std::string file = path + "/" + entry->d_name;
        char link[PATH_MAX];
        const ssize_t n = readlink(file.c_str(), link, sizeof link);
        if (n > 0 && target == std::string_view(link, static_cast<size_t>(n))) add_file(file, pid, files);
    }
}

} // namespace

bool any_descends_from(const std::vector<pid_t>& processes, pid_t ancestor) {
    return std::any_of(processes.begin(), processes.end(),
                       [ancestor](pid_t p) { return os::descends_from(p, ancestor); });
}

std::vector<SharedFile> find_shared_files(const std::string& name) {
    std::vector<SharedFile> files;
    const Folder folder(opendir("/proc"));
    if (!folder) return files;
    const std::string target = "/memfd:" + name + " (deleted)";
    while (const dirent* entry = readdir(folder.get())) {
        const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
        if (pid > 0 && pid != getpid()) scan_process(pid, target, files);
    }
    return files;
}

} // namespace zipmpi::tool
