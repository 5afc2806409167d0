// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/load_module.hpp"

#include <climits>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

namespace zipmpi::launch {

void* load_symbol(const char* module, const char* symbol) {
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return nullptr;
    const std::string path(self, static_cast<size_t>(n));
    const std::string dir = path.substr(0, path.rfind('/'));
    for (const auto& where : {dir + "/", dir + "/../" + ZIPMPI_LIB_DIR + "/zipmpi/"}) {
        void* handle = dlopen((where + module).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr) return dlsym(handle, symbol);
    }
    return nullptr;
}

} // namespace zipmpi::launch
