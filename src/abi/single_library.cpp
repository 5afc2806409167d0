// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
#include "abi/single_library.hpp"

#include "base/text.hpp"
#include "binding/identity.hpp"

#include <algorithm>
#include <cstdint>
#include <dlfcn.h>
#include <iterator>
#include <link.h>
#include <string_view>

namespace zipmpi::abi {
namespace {

// Sonames of the libraries with an MPI interface.
constexpr std::string_view mpi_libraries[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12",
                                              "libmpi_abi.so.1", "libmpi_abi.so.0"};

struct Search {
    const void* own_base;
    const char* other = nullptr;
};

// The part of a file name up to the version that the soname has: libmpi.so.40.30.4 is libmpi.so.40.
template <size_t n>
bool has_name(std::string_view path, const std::string_view (&sonames)[n]) {
    const std::string_view name = file_name(path);
    return std::any_of(std::begin(sonames), std::end(sonames), [name](std::string_view soname) {
        return name.starts_with(soname) && (name.size() == soname.size() || name[soname.size()] == '.');
    });
}

int visit(dl_phdr_info* object, size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    if (object->dlpi_name == nullptr || !has_name(object->dlpi_name, mpi_libraries) ||
        object->dlpi_addr == reinterpret_cast<uintptr_t>(search.own_base))
        return 0;
    search.other = object->dlpi_name;
    return 1;
}

} // namespace

Err check_single_library() noexcept {
    Dl_info own{};
    if (dladdr(reinterpret_cast<const void*>(&check_single_library), &own) == 0) return Err::success;
    if (has_name(own.dli_fname, mpi_libraries) && !has_name(own.dli_fname, library_names))
        return fail(Err::other, "replace the file: copies and links must keep the name of the library",
                    "the file %s is not the library of this name, but ZipMPI's %s", own.dli_fname,
                    library_names[0].data());
    Search search{own.dli_fbase};
    dl_iterate_phdr(visit, &search);
    if (search.other == nullptr) return Err::success;
    return fail(Err::other, "use libraries that were built for one MPI: ldd shows which one needs which",
                "the process has two MPI libraries, %s and %s", own.dli_fname, search.other);
}

} // namespace zipmpi::abi
