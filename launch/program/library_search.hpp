// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the file that the dynamic linker would load for a name (ld.so(8)).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zipmpi::launch {

// Why a file is found: the rule of the search.
enum class FoundBy { nothing, rpath, library_path, runpath, cache, system };

// An object that needs libraries: the program, or one of its libraries.
struct SearchScope {
    std::string folder;                  // of its file, for $ORIGIN
    std::string rpath, runpath;          // as in the file
    const SearchScope* loader = nullptr; // the object that needs it; null for the program
};

class LibrarySearch {
  public:
    struct Result {
        std::string path; // empty: not found
        FoundBy by = FoundBy::nothing;
    };

    // library_path: value of LD_LIBRARY_PATH.
    explicit LibrarySearch(std::string library_path, std::string cache_file = "/etc/ld.so.cache");

    Result find(const std::string& name, const SearchScope& scope);

  private:
    std::string search_folders(std::string_view folders, const SearchScope& scope,
                               const std::string& name) const;
    std::string look_up_cache(const std::string& name);
    void read_cache();

    std::string library_path_, cache_file_;
    bool cache_read_ = false;
    std::unordered_map<std::string, std::vector<std::string>> cache_; // files by name
};

} // namespace zipmpi::launch
