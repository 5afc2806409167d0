// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/win/hints.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace zipmpi::core {
namespace {

using proto::rma::WindowPolicy;

struct Hint {
    const char* key;
    const char* default_value;
};
constexpr const char* lock_key = "zipmpi_lock";
constexpr const char* turns_key = "zipmpi_lock_turns";
constexpr const char* fence_key = "zipmpi_fence";
constexpr const char* no_locks_key = "no_locks";
constexpr const char* order_key = "accumulate_ordering";
constexpr Hint default_hints[] = {
    {no_locks_key, "false"}, {order_key, "rar,raw,war,waw"}, {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},  {"same_disp_unit", "false"},    {"alloc_shared_noncontig", "false"}};

template <class Value>
struct Word {
    const char* word;
    Value value;
};
using Locks = WindowPolicy::Locks;
using Fence = WindowPolicy::Fence;
constexpr Word<Locks> lock_words[] = {
    {"auto", Locks::automatic}, {"cpu", Locks::cpu}, {"network", Locks::network}, {"hybrid", Locks::hybrid}};
constexpr Word<Fence> fence_words[] = {{"auto", Fence::automatic},
                                       {"acknowledged", Fence::acknowledged},
                                       {"counted", Fence::counted},
                                       {"notified", Fence::notified}};

// The value of a word; the first one if it is missing or invalid.
template <class Value, size_t n>
Value value_of(const Word<Value> (&words)[n], const std::string* text) {
    const auto* const found =
        text != nullptr ? std::ranges::find(words, *text, &Word<Value>::word) : std::end(words);
    return found != std::end(words) ? found->value : words[0].value;
}

template <class Value, size_t n>
const char* word_of(const Word<Value> (&words)[n], Value value) {
    return std::ranges::find(words, value, &Word<Value>::value)->word;
}

// 0: missing or invalid
uint32_t turns_of(const std::string* text) {
    constexpr uint32_t max_turns = 1 << 20;
    uint32_t turns = 0;
    if (text == nullptr) return 0;
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, turns);
    return error == std::errc() && rest == end && turns <= max_turns ? turns : 0;
}

} // namespace

Hints window_hints(const Hints& user_hints) {
    Hints hints;
    for (const Hint& h : default_hints) {
        const std::string* const value = user_hints.find(h.key);
        hints.set(h.key, value != nullptr ? value->c_str() : h.default_value);
    }
    for (const char* const key : {lock_key, turns_key, fence_key})
        if (const std::string* const value = user_hints.find(key); value != nullptr) hints.set(key, *value);
    set_policy_hints(policy_of(hints), hints);
    return hints;
}

WindowPolicy policy_of(const Hints& hints) {
    const std::string* const order = hints.find(order_key);
    const std::string* const no_locks = hints.find(no_locks_key);
    WindowPolicy policy;
    policy.locks = value_of(lock_words, hints.find(lock_key));
    policy.fence = value_of(fence_words, hints.find(fence_key));
    policy.lock_turns = turns_of(hints.find(turns_key));
    if (no_locks != nullptr && *no_locks == "true") policy.passive = WindowPolicy::Passive::none;
    if (order != nullptr && *order == "none") policy.accumulate_order = WindowPolicy::AccumulateOrder::none;
    return policy;
}

void set_policy_hints(const WindowPolicy& policy, Hints& hints) {
    hints.set(lock_key, word_of(lock_words, policy.locks));
    hints.set(fence_key, word_of(fence_words, policy.fence));
    if (policy.lock_turns != 0)
        hints.set(turns_key, std::to_string(policy.lock_turns));
    else
        hints.erase(turns_key);
    hints.set(no_locks_key, policy.passive == WindowPolicy::Passive::none ? "true" : "false");
}

} // namespace zipmpi::core
