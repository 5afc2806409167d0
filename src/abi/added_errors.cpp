// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/added_errors.hpp"

#include "abi/custom.hpp"
#include "abi/errors.hpp"

#include <cstring>
#include <map>
#include <mutex>

namespace zipmpi::abi {
namespace {

struct Added {
    int error_class = 0; // itself for a class
    int codes = 0;       // of a class: codes in it
    std::string text;
};

// These calls are allowed from any thread at any time, also before there is an engine to lock.
std::mutex mutex;
using Guard = std::lock_guard<std::mutex>;

std::map<int, Added>& all() {
    static std::map<int, Added> added;
    return added;
}

int last_used = MPI_ERR_LASTCODE;
int first_added() { return MPI_ERR_LASTCODE + 1; }

Added* find(int code) {
    const auto at = all().find(code);
    return at != all().end() ? &at->second : nullptr;
}

void update_last_used() { last_used = all().empty() ? MPI_ERR_LASTCODE : all().rbegin()->first; }

int lowest_free() {
    int number = first_added();
    for (const auto& entry : all()) {
        if (entry.first != number) break;
        ++number;
    }
    return number;
}

int add(int error_class) {
    const int number = lowest_free();
    all()[number].error_class = error_class != 0 ? error_class : number;
    update_last_used();
    return number;
}

Err not_added(const char* what, int number) {
    return fail(Err::arg, "pass one that the program has added", "%d is no added error %s", number, what);
}

Err has_text(const char* what, int number) {
    return fail(Err::other, "call MPI_Remove_error_string first", "error %s %d still has a text", what,
                number);
}

} // namespace

bool is_added_code(int code) noexcept {
    const Guard guard(mutex);
    return find(code) != nullptr;
}
int class_of_added(int code) noexcept {
    const Guard guard(mutex);
    const Added* const added = find(code);
    return added != nullptr ? added->error_class : code;
}
std::string text_of_added(int code) {
    const Guard guard(mutex);
    const Added* const added = find(code);
    return added != nullptr ? added->text : std::string();
}
const int* last_used_code() noexcept { return &last_used; }

namespace custom {

Err add_error_class(int& error_class) {
    const Guard guard(mutex);
    error_class = add(0);
    return Err::success;
}

Err add_error_code(int error_class, int& code) {
    const Guard guard(mutex);
    Err known = Err::success;
    Added* const added = find(error_class);
    const bool is_class = added != nullptr ? added->error_class == error_class : err_of(error_class, known);
    if (!is_class)
        return fail(Err::arg, "pass an error class of MPI or one that was added", "%d is no error class",
                    error_class);
    if (added != nullptr) ++added->codes;
    code = add(error_class);
    return Err::success;
}

Err add_error_string(int code, const char* text) {
    const Guard guard(mutex);
    Added* const added = find(code);
    if (added == nullptr) return not_added("code", code);
    if (std::strlen(text) >= MPI_MAX_ERROR_STRING)
        return fail(Err::arg, "pass a shorter text", "the text has %zu characters, %d are the limit",
                    std::strlen(text), MPI_MAX_ERROR_STRING - 1);
    added->text = text;
    return Err::success;
}

Err remove_error_class(int error_class) {
    const Guard guard(mutex);
    Added* const added = find(error_class);
    if (added == nullptr || added->error_class != error_class) return not_added("class", error_class);
    if (added->codes > 0)
        return fail(Err::other, "remove its codes first", "error class %d has %d codes", error_class,
                    added->codes);
    if (!added->text.empty()) return has_text("class", error_class);
    all().erase(error_class);
    update_last_used();
    return Err::success;
}

Err remove_error_code(int code) {
    const Guard guard(mutex);
    const Added* const added = find(code);
    if (added == nullptr || added->error_class == code) return not_added("code", code);
    if (!added->text.empty()) return has_text("code", code);
    if (Added* const its_class = find(added->error_class)) --its_class->codes;
    all().erase(code);
    update_last_used();
    return Err::success;
}

Err remove_error_string(int code) {
    const Guard guard(mutex);
    Added* const added = find(code);
    if (added == nullptr) return not_added("code", code);
    if (added->text.empty())
        return fail(Err::arg, "remove texts that were added", "error code %d has no text", code);
    added->text.clear();
    return Err::success;
}

} // namespace custom
} // namespace zipmpi::abi
