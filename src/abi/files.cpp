// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files in the ABI binding: views with their strings, and user-defined data representations.
#include "abi/custom.hpp"
#include "abi/errors.hpp"
#include "abi/results.hpp"
#include "core/api/io.hpp"
#include "core/io/representation.hpp"

#include <climits>

namespace zipmpi::abi {
namespace {

Err result_of(int code) {
    if (code == MPI_SUCCESS) return Err::success;
    return fail(Err::conversion, "see the documentation of the conversion function",
                "a user-defined conversion function returned %d", code);
}

Err convert_narrow(void* function, void* user, core::Datatype& type, int64_t count, void* file,
                   int64_t position, void* extra_state) {
    if (count > INT_MAX)
        return fail(Err::count, "register the representation with MPI_Register_datarep_c",
                    "%lld elements exceed the int count of the conversion function",
                    static_cast<long long>(count));
    return result_of(reinterpret_cast<MPI_Datarep_conversion_function*>(function)(
        user, handle_of(&type), static_cast<int>(count), file, position, extra_state));
}

Err convert_wide(void* function, void* user, core::Datatype& type, int64_t count, void* file,
                 int64_t position, void* extra_state) {
    return result_of(reinterpret_cast<MPI_Datarep_conversion_function_c*>(function)(
        user, handle_of(&type), count, file, position, extra_state));
}

Err extent_of(void* function, core::Datatype& type, int64_t& extent, void* extra_state) {
    MPI_Aint bytes = 0;
    const int code =
        reinterpret_cast<MPI_Datarep_extent_function*>(function)(handle_of(&type), &bytes, extra_state);
    extent = bytes;
    return result_of(code);
}

constexpr core::io::ConversionCalls narrow_calls{convert_narrow, extent_of};
constexpr core::io::ConversionCalls wide_calls{convert_wide, extent_of};

} // namespace

namespace custom {

Err file_get_view(core::File& file, int64_t& displacement, core::Datatype*& etype, core::Datatype*& filetype,
                  char* representation) {
    std::string name;
    const Err e = core::file_get_view(file, displacement, etype, filetype, name);
    int length = 0;
    put_text(name, representation, MPI_MAX_DATAREP_STRING, &length);
    return e;
}

Err register_datarep(const char* name, MPI_Datarep_conversion_function* read,
                     MPI_Datarep_conversion_function* write, void* extent, void* extra_state) {
    return core::io::add_representation(name, {reinterpret_cast<void*>(read), reinterpret_cast<void*>(write),
                                               extent, extra_state, &narrow_calls});
}

Err register_datarep(const char* name, MPI_Datarep_conversion_function_c* read,
                     MPI_Datarep_conversion_function_c* write, void* extent, void* extra_state) {
    return core::io::add_representation(name, {reinterpret_cast<void*>(read), reinterpret_cast<void*>(write),
                                               extent, extra_state, &wide_calls});
}

} // namespace custom
} // namespace zipmpi::abi
