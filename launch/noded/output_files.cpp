// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/output_files.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

const char* advice(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "free space there, or choose another directory for the output";
    case EACCES:
    case EPERM:
    case EROFS:
        return "choose a directory that is writable on every host of the job";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n): each rank needs up to two for its output";
    default:
        return "check the name; its directory must be writable on every host of the job";
    }
}

} // namespace

int OutputFiles::open(const std::string& path, Diagnostic& why) {
    if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
    std::error_code error;
    const std::filesystem::path directory = std::filesystem::path(path).parent_path();
    if (!directory.empty()) std::filesystem::create_directories(directory, error);
    // Nonblocking: a pipe without a reader must not stop the job.
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    os::Fd fd(error ? -1 : ::open(path.c_str(), flags, 0666));
    if (!fd) {
        const int code = error ? error.value() : errno;
        why = {"the output file of a rank cannot be created", "host " + host_,
               path + ": " + std::strerror(code), advice(code)};
        return none;
    }
    empty_once(path, fd.get());
    const int number = static_cast<int>(files_.size());
    files_.push_back({path, std::move(fd)});
    by_path_[path] = number;
    return number;
}

// The daemon that creates the marker empties the file; the others wait until it has, since they append to it.
void OutputFiles::empty_once(const std::string& path, int fd) {
    struct stat of_file {};
    if (fstat(fd, &of_file) != 0 || !S_ISREG(of_file.st_mode)) return;
    if (marker_suffix_.empty()) return static_cast<void>(!ftruncate(fd, 0));
    const std::string marker = path + marker_suffix_;
    const os::Fd own(::open(marker.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (own) {
        markers_.push_back(marker);
        static_cast<void>(!ftruncate(fd, 0));
        static_cast<void>(!::write(own.get(), "1", 1));
        return;
    }
    struct stat of_marker {};
    constexpr int tries = 2000; // of 1 ms
    for (int i = 0; i < tries && ::stat(marker.c_str(), &of_marker) == 0 && of_marker.st_size == 0; ++i)
        usleep(1000);
}

OutputFiles::~OutputFiles() {
    for (const std::string& marker : markers_) unlink(marker.c_str());
}

bool OutputFiles::write(int file, std::string_view& text, Diagnostic& why) {
    File& f = files_[static_cast<size_t>(file)];
    while (!text.empty()) {
        const ssize_t n = ::write(f.fd.get(), text.data(), text.size());
        if (n > 0) {
            text.remove_prefix(static_cast<size_t>(n));
        } else if (n == 0 || errno != EINTR) {
            const int code = n == 0 ? ENOSPC : errno;
            why = {"the output of ranks cannot be written to its file; further output goes to the terminal",
                   "host " + host_, f.path + ": " + std::strerror(code), advice(code)};
            f.fd.reset();
            return false;
        }
    }
    return true;
}

} // namespace zipmpi::launch
