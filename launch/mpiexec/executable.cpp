// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/executable.hpp"

#include "os/host.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/mman.h>
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

// A file mapped for reading; every access is checked against its size.
class MappedFile {
  public:
    explicit MappedFile(const char* path) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct stat st {};
        if (fd < 0) return;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
            void* p = mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            if (p != MAP_FAILED) bytes_ = {static_cast<const char*>(p), static_cast<size_t>(st.st_size)};
        }
        close(fd);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() {
        if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
    template <class T>
    bool read(uint64_t offset, T& out) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof out) return false;
        std::memcpy(&out, bytes_.data() + offset, sizeof out);
        return true;
    }
    [[nodiscard]] std::string_view text(uint64_t offset) const {
        if (offset >= bytes_.size()) return {};
        const auto rest = bytes_.substr(offset);
        return rest.substr(0, rest.find('\0'));
    }

  private:
    std::string_view bytes_;
};

// Calls use(name) for each library that the file needs directly, until it returns true; then returns true.
template <class Use>
bool any_needed_library(const MappedFile& file, const Use& use) {
    Elf64_Ehdr head{};
    if (!file.read(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const auto segment = [&](uint32_t i, Elf64_Phdr& p) {
        return file.read(head.e_phoff + uint64_t{i} * sizeof p, p);
    };
    const auto file_offset = [&](uint64_t address) -> uint64_t {
        Elf64_Phdr p{};
        for (uint32_t i = 0; i < head.e_phnum && segment(i, p); ++i)
            if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
                return p.p_offset + (address - p.p_vaddr);
        return UINT64_MAX;
    };
    Elf64_Phdr dynamic{};
    for (uint32_t i = 0; i < head.e_phnum && segment(i, dynamic) && dynamic.p_type != PT_DYNAMIC; ++i) {
    }
    if (dynamic.p_type != PT_DYNAMIC) return false;
    const uint64_t entries = dynamic.p_filesz / sizeof(Elf64_Dyn);
    uint64_t names = UINT64_MAX;
    Elf64_Dyn d{};
    const auto entry = [&](uint64_t i) {
        return file.read(dynamic.p_offset + i * sizeof d, d) && d.d_tag != DT_NULL;
    };
    for (uint64_t i = 0; i < entries && entry(i); ++i)
        if (d.d_tag == DT_STRTAB) names = file_offset(d.d_un.d_ptr);
    if (names == UINT64_MAX) return false;
    for (uint64_t i = 0; i < entries && entry(i); ++i)
        if (d.d_tag == DT_NEEDED && d.d_un.d_val < (1ULL << 32) && use(file.text(names + d.d_un.d_val)))
            return true;
    return false;
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

bool needs_no_pmix(const std::string& path) {
    const MappedFile file(path.c_str());
    return any_needed_library(file, [](std::string_view library) {
        return library == "libmpi_abi.so.1" || library == "libmpich.so.12" || library == "libmpi.so.12";
    });
}

} // namespace zipmpi::launch
