// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/err.hpp"

#include <cstdio>

namespace zipmpi {
namespace {
struct ErrorText {
    std::string_view name, text;
};
constexpr ErrorText texts[] = {
#define ZIPMPI_X(id, name, text) {"MPI_ERR_" name, text},
    ZIPMPI_ERROR_CLASSES(ZIPMPI_X)
#undef ZIPMPI_X
#define ZIPMPI_X(id, name, text) {"MPIX_ERR_" name, text},
        ZIPMPI_EXTENDED_ERROR_CLASSES(ZIPMPI_X)
#undef ZIPMPI_X
};
} // namespace

std::string_view err_name(Err e) noexcept {
    if (e == Err::success) return "MPI_SUCCESS";
    return !is_user_error(e) && e < Err::last_ ? texts[static_cast<int>(e)].name : "MPI_ERR_UNKNOWN";
}

std::string_view err_text(Err e) noexcept {
    return !is_user_error(e) && e < Err::last_ ? texts[static_cast<int>(e)].text
                                               : "an error defined by the application";
}

ErrDetail& last_error() noexcept {
    thread_local ErrDetail detail;
    return detail;
}

Err fail(Err cls, const char* fix, const char* why, ...) noexcept {
    ErrDetail& d = last_error();
    d.cls = cls;
    va_list args;
    va_start(args, why);
    std::vsnprintf(d.why, sizeof d.why, why, args);
    va_end(args);
    std::snprintf(d.fix, sizeof d.fix, "%s", fix);
    return cls;
}

} // namespace zipmpi
