// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/info/info.hpp"

#include "core/api/info.hpp"
#include "core/runtime_state.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::core {
namespace {

Slab<Info, std::mutex>& slab() {
    static auto* const s = new Slab<Info, std::mutex>; // never destroyed: see slab.hpp
    return *s;
}

// Longest key and value, without the final zero (MPI_MAX_INFO_KEY and MPI_MAX_INFO_VAL less one).
constexpr size_t key_max = 255;
constexpr size_t value_max = 1023;

Err check_key(const char* key) {
    const size_t length = strnlen(key, key_max + 1);
    if (length == 0) return fail(Err::info_key, "pass a key", "the key is empty");
    if (length > key_max)
        return fail(Err::info_key, "pass a shorter key", "the key has more than %zu characters", key_max);
    return Err::success;
}

Err check_mutable(const Info& info) {
    if (&info != &info_env()) return Err::success;
    return fail(Err::info, "change a copy: MPI_Info_dup", "MPI_INFO_ENV cannot be changed");
}

} // namespace

const std::string* Hints::find(std::string_view key) const {
    for (const auto& [k, v] : pairs_)
        if (k == key) return &v;
    return nullptr;
}

void Hints::set(std::string_view key, std::string_view value) {
    for (auto& [k, v] : pairs_)
        if (k == key) {
            v = value;
            return;
        }
    pairs_.emplace_back(key, value);
}

bool Hints::erase(std::string_view key) {
    const auto at = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.first == key; });
    if (at == pairs_.end()) return false;
    pairs_.erase(at);
    return true;
}

Info* info_by_index(uint32_t index) { return slab().find(index); }

Err make_info(Hints hints, Info*& info) {
    info = slab().make();
    if (info == nullptr) return fail(Err::no_mem, "free memory", "no memory for another info object");
    info->hints = std::move(hints);
    return Err::success;
}

Err info_create(Info*& info) { return make_info({}, info); }

Err info_dup(Info& info, Info*& copy) { return make_info(hints_of(info), copy); }

Err info_free(Info*& info) {
    if (const Err e = check_mutable(*info); e != Err::success) return e;
    slab().destroy(*info);
    info = nullptr;
    return Err::success;
}

Err info_set(Info& info, const char* key, const char* value) {
    if (const Err e = check_mutable(info); e != Err::success) return e;
    if (const Err e = check_key(key); e != Err::success) return e;
    if (strnlen(value, value_max + 1) > value_max)
        return fail(Err::info_value, "pass a shorter value", "the value has more than %zu characters",
                    value_max);
    info.hints.set(key, value);
    return Err::success;
}

Err info_delete(Info& info, const char* key) {
    if (const Err e = check_mutable(info); e != Err::success) return e;
    if (const Err e = check_key(key); e != Err::success) return e;
    if (info.hints.erase(key)) return Err::success;
    return fail(Err::info_nokey, "delete only existing keys", "the info object has no key %s", key);
}

Err info_find(Info& info, const char* key, const std::string*& value) {
    if (const Err e = check_key(key); e != Err::success) return e;
    value = hints_of(info).find(key);
    return Err::success;
}

Err info_get_nkeys(Info& info, int& count) {
    count = static_cast<int>(hints_of(info).pairs().size());
    return Err::success;
}

Err info_get_nthkey(Info& info, int n, std::string& key) {
    const auto& pairs = hints_of(info).pairs();
    if (n < 0 || static_cast<size_t>(n) >= pairs.size())
        return fail(Err::arg, "pass a number below the result of MPI_Info_get_nkeys",
                    "n is %d, the info object has %zu keys", n, pairs.size());
    key = pairs[static_cast<size_t>(n)].first;
    return Err::success;
}

} // namespace zipmpi::core
