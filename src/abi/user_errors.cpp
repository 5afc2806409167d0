// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/user_errors.hpp"

#include "abi/custom.hpp"
#include "abi/errors.hpp"

#include <cstring>
#include <map>
#include <mutex>

namespace zipmpi::abi {
namespace {

struct UserError {
    int error_class = 0; // a class: itself
    int codes = 0;       // a class: number of its codes
    std::string text;
};

// Callable from any thread at any time, also before the runtime exists.
std::mutex mutex;
using LockGuard = std::lock_guard<std::mutex>;

std::map<int, UserError>& user_errors() {
    static std::map<int, UserError> added;
    return added;
}

int last_used = MPI_ERR_LASTCODE;
int first_user_code() { return MPI_ERR_LASTCODE + 1; }

UserError* find_user_error(int code) {
    const auto at = user_errors().find(code);
    return at != user_errors().end() ? &at->second : nullptr;
}

void update_last_used() {
    last_used = user_errors().empty() ? MPI_ERR_LASTCODE : user_errors().rbegin()->first;
}

int lowest_free_code() {
    int number = first_user_code();
    for (const auto& entry : user_errors()) {
        if (entry.first != number) break;
        ++number;
    }
    return number;
}

int add_user_error(int error_class) {
    const int number = lowest_free_code();
    user_errors()[number].error_class = error_class != 0 ? error_class : number;
    update_last_used();
    return number;
}

Err not_user_error(const char* what, int number) {
    return fail(Err::arg, "pass one that the application added", "%d is not a user-defined error %s", number,
                what);
}

Err text_still_set(const char* what, int number) {
    return fail(Err::other, "call MPI_Remove_error_string first", "error %s %d still has a text", what,
                number);
}

} // namespace

bool is_user_code(int code) noexcept {
    const LockGuard guard(mutex);
    return find_user_error(code) != nullptr;
}
int user_error_class(int code) noexcept {
    const LockGuard guard(mutex);
    const UserError* const added = find_user_error(code);
    return added != nullptr ? added->error_class : code;
}
std::string user_error_text(int code) {
    const LockGuard guard(mutex);
    const UserError* const added = find_user_error(code);
    return added != nullptr ? added->text : std::string();
}
const int* last_used_code() noexcept { return &last_used; }

namespace custom {

Err add_error_class(int& error_class) {
    const LockGuard guard(mutex);
    error_class = add_user_error(0);
    return Err::success;
}

Err add_error_code(int error_class, int& code) {
    const LockGuard guard(mutex);
    Err predefined = Err::success;
    UserError* const added = find_user_error(error_class);
    const bool is_class =
        added != nullptr ? added->error_class == error_class : err_of(error_class, predefined);
    if (!is_class)
        return fail(Err::arg, "pass a predefined or user-defined error class",
                    "%d is not a valid error class", error_class);
    if (added != nullptr) ++added->codes;
    code = add_user_error(error_class);
    return Err::success;
}

Err add_error_string(int code, const char* text) {
    const LockGuard guard(mutex);
    UserError* const added = find_user_error(code);
    if (added == nullptr) return not_user_error("code", code);
    if (std::strlen(text) >= MPI_MAX_ERROR_STRING)
        return fail(Err::arg, "pass a shorter text", "the text has %zu characters, the limit is %d",
                    std::strlen(text), MPI_MAX_ERROR_STRING - 1);
    added->text = text;
    return Err::success;
}

Err remove_error_class(int error_class) {
    const LockGuard guard(mutex);
    UserError* const added = find_user_error(error_class);
    if (added == nullptr || added->error_class != error_class) return not_user_error("class", error_class);
    if (added->codes > 0)
        return fail(Err::other, "remove its codes first", "error class %d has %d codes", error_class,
                    added->codes);
    if (!added->text.empty()) return text_still_set("class", error_class);
    user_errors().erase(error_class);
    update_last_used();
    return Err::success;
}

Err remove_error_code(int code) {
    const LockGuard guard(mutex);
    const UserError* const added = find_user_error(code);
    if (added == nullptr || added->error_class == code) return not_user_error("code", code);
    if (!added->text.empty()) return text_still_set("code", code);
    if (UserError* const its_class = find_user_error(added->error_class)) --its_class->codes;
    user_errors().erase(code);
    update_last_used();
    return Err::success;
}

Err remove_error_string(int code) {
    const LockGuard guard(mutex);
    UserError* const added = find_user_error(code);
    if (added == nullptr) return not_user_error("code", code);
    if (added->text.empty())
        return fail(Err::arg, "remove only strings that were added", "error code %d has no text", code);
    added->text.clear();
    return Err::success;
}

} // namespace custom
} // namespace zipmpi::abi
