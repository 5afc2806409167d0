// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/program/elf_file.hpp"

#include "os/fd.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace zipmpi::launch {
namespace {

#if defined(__aarch64__)
constexpr uint16_t own_machine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t own_machine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr uint16_t own_machine = EM_PPC64;
#else
constexpr uint16_t own_machine = EM_X86_64;
#endif
constexpr uint64_t no_offset = UINT64_MAX;
constexpr uint64_t max_entries = 65536; // of a dynamic section

// A file mapped for reading; every access is checked against its size.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path) {
        const os::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        struct stat st {};
        if (!fd || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) return;
        void* const p = mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd.get(), 0);
        if (p != MAP_FAILED) bytes_ = {static_cast<const char*>(p), static_cast<size_t>(st.st_size)};
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() {
        if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
    [[nodiscard]] std::string_view bytes() const { return bytes_; }
    [[nodiscard]] bool has(uint64_t offset, uint64_t size) const {
        return offset <= bytes_.size() && size <= bytes_.size() - offset;
    }
    template <class T>
    bool read(uint64_t offset, T& out) const {
        if (!has(offset, sizeof out)) return false;
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

// The headers of a mapped ELF file of this machine.
class Headers {
  public:
    explicit Headers(const MappedFile& file)
        : file_(file) {}

    // Sets kind and problem; true if the file can be read further.
    bool check(ElfFile& out) {
        const std::string_view bytes = file_.bytes();
        if (bytes.substr(0, SELFMAG) != ELFMAG) return false;
        const auto refuse = [&](ElfFile::Kind kind, std::string problem) {
            out.kind = kind;
            out.problem = std::move(problem);
            return false;
        };
        if (bytes.size() > EI_CLASS && bytes[EI_CLASS] == ELFCLASS32)
            return refuse(ElfFile::Kind::other_machine, "a 32-bit file");
        if (!file_.read(0, head_)) return refuse(ElfFile::Kind::damaged, "its header is cut off");
        if (head_.e_ident[EI_CLASS] != ELFCLASS64 || head_.e_machine != own_machine)
            return refuse(ElfFile::Kind::other_machine, "a file for another processor (ELF machine " +
                                                            std::to_string(head_.e_machine) + ")");
        if (head_.e_type != ET_EXEC && head_.e_type != ET_DYN)
            return refuse(ElfFile::Kind::damaged,
                          "it is not linked (ELF type " + std::to_string(head_.e_type) + ")");
        for (uint32_t i = 0; i < head_.e_phnum; ++i) {
            Elf64_Phdr p{};
            if (!segment(i, p)) return refuse(ElfFile::Kind::damaged, "its program headers are cut off");
            if (p.p_type == PT_LOAD && !file_.has(p.p_offset, p.p_filesz))
                return refuse(ElfFile::Kind::damaged, "the file is shorter than its segments");
        }
        return true;
    }

    [[nodiscard]] bool find(uint32_t type, Elf64_Phdr& out) const {
        for (uint32_t i = 0; i < head_.e_phnum && segment(i, out); ++i)
            if (out.p_type == type) return true;
        return false;
    }

    // Calls use(entry) for each entry of the dynamic section.
    template <class Use>
    void for_each_dynamic(const Use& use) const {
        Elf64_Phdr dynamic{};
        if (!find(PT_DYNAMIC, dynamic)) return;
        const uint64_t entries = std::min(dynamic.p_filesz / sizeof(Elf64_Dyn), max_entries);
        Elf64_Dyn d{};
        for (uint64_t i = 0; i < entries; ++i) {
            if (!file_.read(dynamic.p_offset + i * sizeof d, d) || d.d_tag == DT_NULL) return;
            use(d);
        }
    }

    [[nodiscard]] uint64_t offset_of(uint64_t address) const {
        Elf64_Phdr p{};
        for (uint32_t i = 0; i < head_.e_phnum && segment(i, p); ++i)
            if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
                return p.p_offset + (address - p.p_vaddr);
        return no_offset;
    }

    // The dynamic string table.
    [[nodiscard]] std::string_view names() const {
        uint64_t begin = no_offset;
        uint64_t size = 0;
        for_each_dynamic([&](const Elf64_Dyn& d) {
            if (d.d_tag == DT_STRTAB) begin = offset_of(d.d_un.d_ptr);
            if (d.d_tag == DT_STRSZ) size = d.d_un.d_val;
        });
        return begin != no_offset && file_.has(begin, size) ? file_.bytes().substr(begin, size)
                                                            : std::string_view{};
    }

  private:
    bool segment(uint32_t i, Elf64_Phdr& p) const {
        return file_.read(head_.e_phoff + uint64_t{i} * sizeof p, p);
    }

    const MappedFile& file_;
    Elf64_Ehdr head_{};
};

} // namespace

ElfFile read_elf(const std::string& path) {
    ElfFile out;
    const MappedFile file(path);
    Headers headers(file);
    if (!headers.check(out)) return out;
    Elf64_Phdr interpreter{};
    if (headers.find(PT_INTERP, interpreter)) out.interpreter = file.text(interpreter.p_offset);
    const std::string_view names = headers.names();
    const auto name = [&](const Elf64_Dyn& d) {
        if (d.d_un.d_val >= names.size()) return std::string();
        const std::string_view rest = names.substr(d.d_un.d_val);
        return std::string(rest.substr(0, rest.find('\0')));
    };
    headers.for_each_dynamic([&](const Elf64_Dyn& d) {
        if (d.d_tag == DT_NEEDED) out.needed.push_back(name(d));
        if (d.d_tag == DT_SONAME) out.soname = name(d);
        if (d.d_tag == DT_RPATH) out.rpath = name(d);
        if (d.d_tag == DT_RUNPATH) out.runpath = name(d);
    });
    const bool is_static = out.interpreter.empty() && out.needed.empty() && out.soname.empty();
    out.kind = is_static ? ElfFile::Kind::static_program : ElfFile::Kind::dynamic;
    return out;
}

bool file_contains(const std::string& path, const std::vector<std::string_view>& words) {
    const MappedFile file(path);
    const std::string_view bytes = file.bytes();
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return memmem(bytes.data(), bytes.size(), word.data(), word.size()) != nullptr;
    });
}

bool uses_symbols(const std::string& path, std::string_view prefix) {
    const MappedFile file(path);
    Headers headers(file);
    ElfFile unused;
    if (!headers.check(unused)) return false;
    const std::string wanted = '\0' + std::string(prefix);
    const std::string_view names = headers.names();
    return memmem(names.data(), names.size(), wanted.data(), wanted.size()) != nullptr;
}

} // namespace zipmpi::launch
