// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/program/library_search.hpp"

#include "launch/program/elf_file.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Folders of distributions, used if the cache has no entry.
constexpr std::array system_folders = {"/lib/x86_64-linux-gnu",
                                       "/usr/lib/x86_64-linux-gnu",
                                       "/lib/aarch64-linux-gnu",
                                       "/usr/lib/aarch64-linux-gnu",
                                       "/lib64",
                                       "/usr/lib64",
                                       "/lib",
                                       "/usr/lib"};

// Formats of /etc/ld.so.cache (glibc, sysdeps/generic/dl-cache.h).
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";
struct CacheHeader {
    char magic[20];
    uint32_t entries;
    uint32_t string_bytes;
    uint32_t unused[5];
};
struct CacheEntry {
    int32_t flags;
    uint32_t name, file; // offsets from the header
    uint32_t version;
    uint64_t features;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

// $ORIGIN, $LIB and $PLATFORM, also in braces.
std::string expand(std::string folder, const std::string& origin) {
    struct Token {
        std::string name, value;
    };
    for (const Token& t :
         {Token{"ORIGIN", origin}, Token{"LIB", "lib/x86_64-linux-gnu"}, Token{"PLATFORM", "x86_64"}})
        for (const std::string& spelling : {"$" + t.name, "${" + t.name + "}"})
            for (size_t at = 0; (at = folder.find(spelling, at)) != std::string::npos; at += t.value.size())
                folder.replace(at, spelling.size(), t.value);
    return folder;
}

// The linker skips files of other machines.
bool is_usable(const std::string& path) {
    return access(path.c_str(), R_OK) == 0 && read_elf(path).kind == ElfFile::Kind::dynamic;
}

} // namespace

LibrarySearch::LibrarySearch(std::string library_path, std::string cache_file)
    : library_path_(std::move(library_path))
    , cache_file_(std::move(cache_file)) {}

std::string LibrarySearch::search_folders(std::string_view folders, const SearchScope& scope,
                                          const std::string& name) const {
    while (!folders.empty()) {
        const size_t end = folders.find_first_of(":;");
        const std::string_view folder = folders.substr(0, end);
        folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
        std::string file = (folder.empty() ? "." : expand(std::string(folder), scope.folder)) + "/" + name;
        if (is_usable(file)) return file;
    }
    return {};
}

void LibrarySearch::read_cache() {
    cache_read_ = true;
    std::ifstream file(cache_file_, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const size_t begin = bytes.find(cache_magic); // an older format may precede it
    CacheHeader head{};
    if (begin == std::string::npos || bytes.size() - begin < sizeof head) return;
    const std::string_view all = std::string_view(bytes).substr(begin);
    std::memcpy(&head, all.data(), sizeof head);
    if ((all.size() - sizeof head) / sizeof(CacheEntry) < head.entries) return;
    const auto text = [&](uint32_t offset) {
        const std::string_view rest = all.substr(std::min<size_t>(offset, all.size()));
        return std::string(rest.substr(0, rest.find('\0')));
    };
    for (uint32_t i = 0; i < head.entries; ++i) {
        CacheEntry e{};
        std::memcpy(&e, all.data() + sizeof head + i * sizeof e, sizeof e);
        cache_[text(e.name)].push_back(text(e.file));
    }
}

std::string LibrarySearch::look_up_cache(const std::string& name) {
    if (!cache_read_) read_cache();
    const auto found = cache_.find(name);
    if (found == cache_.end()) return {};
    for (const std::string& file : found->second)
        if (is_usable(file)) return file;
    return {};
}

LibrarySearch::Result LibrarySearch::find(const std::string& name, const SearchScope& scope) {
    if (name.find('/') != std::string::npos) {
        const std::string file = expand(name, scope.folder);
        return is_usable(file) ? Result{file, FoundBy::system} : Result{};
    }
    if (scope.runpath.empty()) // DT_RPATH of the object and of those that load it
        for (const SearchScope* s = &scope; s != nullptr; s = s->loader)
            if (s->runpath.empty() && !s->rpath.empty())
                if (std::string file = search_folders(s->rpath, *s, name); !file.empty())
                    return {std::move(file), FoundBy::rpath};
    if (std::string file = search_folders(library_path_, scope, name); !file.empty())
        return {std::move(file), FoundBy::library_path};
    if (std::string file = search_folders(scope.runpath, scope, name); !file.empty())
        return {std::move(file), FoundBy::runpath};
    if (std::string file = look_up_cache(name); !file.empty()) return {std::move(file), FoundBy::cache};
    for (const char* folder : system_folders)
        if (std::string file = std::string(folder) + "/" + name; is_usable(file))
            return {std::move(file), FoundBy::system};
    return {};
}

} // namespace zipmpi::launch
