// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Output files of the ranks. Ranks that name the same file share it.
#pragma once

#include "base/diagnostic.hpp"
#include "os/fd.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class OutputFiles {
  public:
    static constexpr int none = -1;

    explicit OutputFiles(std::string host = {})
        : host_(std::move(host)) {}
    ~OutputFiles();
    OutputFiles(const OutputFiles&) = delete;
    OutputFiles& operator=(const OutputFiles&) = delete;

    // Daemons of other hosts may open files of the same names, on the same file system or not: one of those
    // that share a file empties it. `job` is equal for all daemons of the job.
    void share_with_hosts(const std::string& job) { marker_suffix_ = ".zipmpi-" + job; }
    // Creates missing directories and an empty file. Returns its number, or `none` with the reason.
    int open(const std::string& path, Diagnostic& why);
    [[nodiscard]] bool is_open(int file) const {
        return file != none && static_cast<bool>(files_[static_cast<size_t>(file)].fd);
    }
    // Writes to an open file. On error returns the reason and closes the file; the unwritten text stays in
    // `text`.
    bool write(int file, std::string_view& text, Diagnostic& why);

  private:
    struct File {
        std::string path;
        os::Fd fd;
    };
    void empty_once(const std::string& path, int fd);

    std::string host_;
    std::string marker_suffix_; // of the files by which daemons agree on who empties; empty: not needed
    std::vector<std::string> markers_; // made by this daemon
    std::vector<File> files_;
    std::map<std::string, int> by_path_;
};

} // namespace zipmpi::launch
