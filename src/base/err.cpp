// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/err.hpp"

#include <cstdio>

namespace zipmpi {
namespace {
struct Text {
    std::string_view name, text;
};
constexpr Text texts[] = {
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
    return !is_foreign(e) && e < Err::last_ ? texts[static_cast<int>(e)].name : "MPI_ERR_UNKNOWN";
}

std::string_view err_text(Err e) noexcept {
    return !is_foreign(e) && e < Err::last_ ? texts[static_cast<int>(e)].text
                                            : "an error of the program's own";
}

ErrDetail& last_error() noexcept {
    thread_local ErrDetail detail;
    return detail;
}

Err fail(Err cls, const char* todo, const char* why, ...) noexcept {
    ErrDetail& d = last_error();
    d.cls = cls;
    va_list args;
    va_start(args, why);
    std::vsnprintf(d.why, sizeof d.why, why, args);
    va_end(args);
    std::snprintf(d.todo, sizeof d.todo, "%s", todo);
    return cls;
}

} // namespace zipmpi
