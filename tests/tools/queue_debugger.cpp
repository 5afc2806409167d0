// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: queue_debugger PID
// Acts as a debugger: loads the library that the MPI library of the process names in MPIR_dll_name, and lists
// the communicators and message queues of the process. Finds symbols in the dynamic symbol table of
// libmpi_abi and reads memory by process_vm_readv. Status 77: that is not permitted.
#include "interface.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/uio.h>
#include <vector>

namespace {

pid_t pid = 0;
std::vector<char> library; // the file
unsigned long base = 0;    // its address in the process
mqs_image_info* image_info = nullptr;
mqs_process_info* process_info = nullptr;

int fetch(mqs_process*, mqs_taddr_t address, int bytes, void* to) {
    const iovec here{to, static_cast<size_t>(bytes)};
    const iovec there{reinterpret_cast<void*>(address), static_cast<size_t>(bytes)};
    const ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (n < 0 && errno == EPERM) std::exit(77);
    return n == bytes ? mqs_ok : mqs_no_information;
}

int find_symbol(mqs_image*, char* name, mqs_taddr_t* address) {
    const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(library.data());
    const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(&library[header->e_shoff]);
    for (int s = 0; s < header->e_shnum; ++s) {
        if (sections[s].sh_type != SHT_DYNSYM) continue;
        const char* const names = &library[sections[sections[s].sh_link].sh_offset];
        for (size_t at = 0; at < sections[s].sh_size; at += sizeof(Elf64_Sym)) {
            const auto* const symbol =
                reinterpret_cast<const Elf64_Sym*>(&library[sections[s].sh_offset + at]);
            if (symbol->st_shndx == SHN_UNDEF || std::strcmp(names + symbol->st_name, name) != 0) continue;
            *address = base + symbol->st_value;
            return mqs_ok;
        }
    }
    return mqs_no_information;
}

void find_library() {
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const size_t path = line.find('/');
        if (path == std::string::npos || line.find("libmpi_abi.so", path) == std::string::npos) continue;
        base = std::strtoul(line.c_str(), nullptr, 16);
        std::ifstream file(line.substr(path), std::ios::binary);
        library.assign(std::istreambuf_iterator<char>(file), {});
        return;
    }
    std::fputs("the process has not loaded libmpi_abi.so\n", stderr);
    std::exit(1);
}

template <class Function>
Function* function(void* module, const char* name) {
    void* const found = dlsym(module, name);
    if (found == nullptr) std::exit(1);
    return reinterpret_cast<Function*>(found);
}
#define CALL(name) function<decltype(name)>(module, #name)

void check(void* module, int result, const char* what) {
    if (result == mqs_ok) return;
    std::fprintf(stderr, "%s: %s\n", what, CALL(mqs_dll_error_string)(result));
    std::exit(1);
}

void print_operations(void* module, mqs_process* process) {
    const char* const kinds[] = {"send to", "receive from", "unexpected from"};
    for (int kind = mqs_pending_sends; kind <= mqs_unexpected_messages; ++kind) {
        mqs_pending_operation o{};
        if (CALL(mqs_setup_operation_iterator)(process, kind) != mqs_ok) continue;
        while (CALL(mqs_next_operation)(process, &o) == mqs_ok)
            std::printf("  %s %ld (%ld) tag %s bytes %ld status %d %s\n", kinds[kind], o.desired_local_rank,
                        o.desired_global_rank,
                        o.tag_wild != 0 ? "any" : std::to_string(o.desired_tag).c_str(), o.desired_length,
                        o.status, o.extra_text[0]);
    }
}

void print_communicators(void* module, mqs_process* process) {
    check(module, CALL(mqs_update_communicator_list)(process), "communicators");
    check(module, CALL(mqs_setup_communicator_iterator)(process), "communicators");
    do {
        mqs_communicator comm{};
        check(module, CALL(mqs_get_communicator)(process, &comm), "communicator");
        std::vector<int> group(static_cast<size_t>(comm.size));
        check(module, CALL(mqs_get_comm_group)(process, group.data()), "group");
        std::printf("%s: rank %ld of", comm.name, comm.local_rank);
        for (const int rank : group) std::printf(" %d", rank);
        std::puts("");
        print_operations(module, process);
    } while (CALL(mqs_next_communicator)(process) == mqs_ok);
}

const mqs_basic_callbacks basic = {std::malloc,
                                   std::free,
                                   [](const char* text) { std::fputs(text, stderr); },
                                   [](int) { return const_cast<char*>("error"); },
                                   [](mqs_image*, mqs_image_info* info) { image_info = info; },
                                   [](mqs_image*) { return image_info; },
                                   [](mqs_process*, mqs_process_info* info) { process_info = info; },
                                   [](mqs_process*) { return process_info; }};
const mqs_image_callbacks image_callbacks = {nullptr, nullptr, find_symbol, nullptr, nullptr, nullptr};
const mqs_process_callbacks process_callbacks = {nullptr, [](mqs_process*) -> mqs_image* { return nullptr; },
                                                 fetch, nullptr};

} // namespace

int main(int argc, char** argv) {
    pid = argc > 1 ? std::atoi(argv[1]) : 0;
    find_library();
    char path[4096] = {};
    mqs_taddr_t at = 0;
    if (find_symbol(nullptr, const_cast<char*>("MPIR_dll_name"), &at) != mqs_ok ||
        fetch(nullptr, at, sizeof path, path) != mqs_ok) {
        std::fputs("MPIR_dll_name is missing\n", stderr);
        return 1;
    }
    void* const module = dlopen(path, RTLD_NOW);
    if (module == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    CALL(mqs_setup_basic_callbacks)(&basic);
    if (CALL(mqs_version_compatibility)() != MQS_INTERFACE_COMPATIBILITY ||
        CALL(mqs_dll_taddr_width)() != sizeof(void*))
        return 1;
    char* message = nullptr;
    check(module, CALL(mqs_setup_image)(nullptr, &image_callbacks), "image");
    check(module, CALL(mqs_image_has_queues)(nullptr, &message), "image");
    check(module, CALL(mqs_setup_process)(nullptr, &process_callbacks), "process");
    check(module, CALL(mqs_process_has_queues)(nullptr, &message), "process");
    print_communicators(module, nullptr);
    CALL(mqs_destroy_process_info)(process_info);
    CALL(mqs_destroy_image_info)(image_info);
    return 0;
}
