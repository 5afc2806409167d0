// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/api/tool.hpp"

#include "base/param.hpp"
#include "core/runtime.hpp"
#include "os/clock.hpp"

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace zipmpi::core::tool {
namespace {

// Never destroyed: destructors of static application objects may still use the interface.
std::recursive_mutex& tool_mutex() {
    static auto* const mutex = new std::recursive_mutex;
    return *mutex;
}

int users = 0;

} // namespace

ToolErr set_error(ToolErr code, const char* why, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, why);
    std::vsnprintf(text, sizeof text, why, arguments);
    va_end(arguments);
    static_cast<void>(fail(Err::other, "see chapter 15 of the MPI standard", "%s", text));
    return code;
}

ToolLock::ToolLock()
    : guard_(tool_mutex()) {}

ToolErr ToolLock::check_initialized() const {
    return users > 0 ? ToolErr::success
                     : set_error(ToolErr::not_initialized, "MPI_T_init_thread has not been called");
}

ToolErr init(ThreadLevel& provided) {
    const std::lock_guard guard(tool_mutex());
    // Before MPI_Init the settings have not been read; MPI_Init reports their errors.
    if (users == 0 && phase() == Phase::before_init) static_cast<void>(load_params(environ));
    ++users;
    provided = ThreadLevel::multiple;
    return ToolErr::success;
}

ToolErr finalize() {
    if (--users > 0) return ToolErr::success;
    close_all_cvars();
    close_all_sessions();
    close_all_events();
    return ToolErr::success;
}

const Enumeration& boolean_enumeration() {
    static const auto* const enumeration = new Enumeration{"yes_or_no", {{0, "no"}, {1, "yes"}}};
    return *enumeration;
}

bool is_enumeration(const void* handle) { return handle == &boolean_enumeration(); }

int64_t ticks() { return static_cast<int64_t>(os::now_ns()); }

} // namespace zipmpi::core::tool
