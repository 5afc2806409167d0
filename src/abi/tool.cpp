// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tool interface: initialization, enumerations, categories.
#include "abi/tool.hpp"

#include "abi/errors.hpp"
#include "abi/results.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::abi {

namespace tool = core::tool;

int tool_code(uint32_t function, core::ToolErr result) noexcept {
    return result == core::ToolErr::success ? MPI_SUCCESS : record_last_error(function, code_of(result));
}

void put_tool_text(std::string_view text, char* out, int* length) noexcept {
    if (length == nullptr) return;
    if (out != nullptr && *length > 0) {
        const size_t n = std::min(text.size(), static_cast<size_t>(*length) - 1);
        std::memcpy(out, text.data(), n);
        out[n] = '\0';
    }
    *length = static_cast<int>(text.size()) + 1;
}

core::ToolErr null_result(const char* param) noexcept {
    return tool::set_error(core::ToolErr::invalid, "%s is a null pointer", param);
}

namespace custom {
namespace {

const tool::Enumeration* enumeration_of(MPI_T_enum handle) {
    const void* const address = handle;
    return tool::is_enumeration(address) ? static_cast<const tool::Enumeration*>(address) : nullptr;
}

ToolErr no_enumeration(MPI_T_enum handle) {
    return tool::set_error(ToolErr::invalid_handle, "%p is not a valid MPI_T_enum",
                           static_cast<void*>(handle));
}

const tool::Category* find_category(int index) {
    const auto& all = tool::categories();
    return index >= 0 && static_cast<size_t>(index) < all.size() ? &all[static_cast<size_t>(index)] : nullptr;
}

ToolErr no_category(int index) {
    return tool::set_error(ToolErr::invalid_index, "category index %d is out of range: there are %zu", index,
                           tool::categories().size());
}

// Stores as many as fit.
ToolErr put_indices(const std::vector<int>& from, int length, int* to) {
    if (length < 0) return tool::set_error(ToolErr::invalid, "the length is %d", length);
    if (to == nullptr && length > 0) return null_result("indices");
    std::copy_n(from.begin(), std::min(from.size(), static_cast<size_t>(length)), to);
    return ToolErr::success;
}

} // namespace

ToolErr tool_init_thread(int required, int* provided) {
    const bool is_valid =
        std::any_of(std::begin(values::enum_codes_ThreadLevel), std::end(values::enum_codes_ThreadLevel),
                    [&](const auto& row) { return row.code == required; });
    if (!is_valid)
        return tool::set_error(ToolErr::invalid, "%d is not a valid level of thread support", required);
    core::ThreadLevel level{};
    const ToolErr e = tool::init(level);
    put_optional(provided, code_of(level));
    return e;
}

ToolErr tool_finalize() { return tool::finalize(); }

ToolErr tool_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
    const tool::Enumeration* const e = enumeration_of(enumtype);
    if (e == nullptr) return no_enumeration(enumtype);
    put_optional(num, e->items.size());
    put_tool_text(e->name, name, name_len);
    return ToolErr::success;
}

ToolErr tool_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
    const tool::Enumeration* const e = enumeration_of(enumtype);
    if (e == nullptr) return no_enumeration(enumtype);
    if (index < 0 || static_cast<size_t>(index) >= e->items.size())
        return tool::set_error(ToolErr::invalid_item, "%s: item index %d is out of range, there are %zu",
                               e->name, index, e->items.size());
    const tool::Enumeration::Item& item = e->items[static_cast<size_t>(index)];
    put_optional(value, item.value);
    put_tool_text(item.name, name, name_len);
    return ToolErr::success;
}

ToolErr tool_category_changed(int* update_number) {
    if (update_number == nullptr) return null_result("update_number");
    *update_number = tool::category_changes();
    return ToolErr::success;
}

ToolErr tool_category_get_num(int* num) {
    if (num == nullptr) return null_result("num_cat");
    *num = static_cast<int>(tool::categories().size());
    return ToolErr::success;
}

ToolErr tool_category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                               int* num_cvars, int* num_pvars, int* num_categories) {
    const tool::Category* const c = find_category(index);
    if (c == nullptr) return no_category(index);
    put_tool_text(c->name, name, name_len);
    put_tool_text(c->help, desc, desc_len);
    put_optional(num_cvars, c->cvars.size());
    put_optional(num_pvars, c->pvars.size());
    put_optional(num_categories, 0);
    return ToolErr::success;
}

ToolErr tool_category_get_index(const char* name, int* index) {
    if (name == nullptr) return null_result("name");
    if (index == nullptr) return null_result("cat_index");
    const auto& all = tool::categories();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const tool::Category& c) { return c.name == name; });
    if (found == all.end())
        return tool::set_error(ToolErr::invalid_name, "no category is named \"%s\"", name);
    *index = static_cast<int>(found - all.begin());
    return ToolErr::success;
}

ToolErr tool_category_get_cvars(int index, int length, int* indices) {
    const tool::Category* const c = find_category(index);
    return c != nullptr ? put_indices(c->cvars, length, indices) : no_category(index);
}

ToolErr tool_category_get_pvars(int index, int length, int* indices) {
    const tool::Category* const c = find_category(index);
    return c != nullptr ? put_indices(c->pvars, length, indices) : no_category(index);
}

ToolErr tool_category_get_categories(int index, int length, int* indices) {
    return find_category(index) != nullptr ? put_indices({}, length, indices) : no_category(index);
}

ToolErr tool_category_get_num_events(int index, int* num) {
    if (num == nullptr) return null_result("num_events");
    const tool::Category* const c = find_category(index);
    if (c == nullptr) return no_category(index);
    *num = static_cast<int>(c->events.size());
    return ToolErr::success;
}

ToolErr tool_category_get_events(int index, int length, int* indices) {
    const tool::Category* const c = find_category(index);
    return c != nullptr ? put_indices(c->events, length, indices) : no_category(index);
}

} // namespace custom
} // namespace zipmpi::abi
