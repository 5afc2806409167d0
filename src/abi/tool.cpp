// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tool interface: start, values with names, categories.
#include "abi/tool.hpp"

#include "abi/errors.hpp"
#include "abi/results.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::abi {

namespace tool = core::tool;

int tool_code(uint32_t function, core::ToolErr result) noexcept {
    return result == core::ToolErr::success ? MPI_SUCCESS : remember(function, code_of(result));
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

core::ToolErr no_place(const char* param) noexcept {
    return tool::refuse(core::ToolErr::invalid, "%s is a null pointer", param);
}

namespace custom {
namespace {

const tool::Enumeration* enumeration_of(MPI_T_enum handle) {
    const void* const address = handle;
    return tool::is_enumeration(address) ? static_cast<const tool::Enumeration*>(address) : nullptr;
}

ToolErr no_enumeration(MPI_T_enum handle) {
    return tool::refuse(ToolErr::invalid_handle, "%p is no MPI_T_enum", static_cast<void*>(handle));
}

const tool::Category* category(int index) {
    const auto& all = tool::categories();
    return index >= 0 && static_cast<size_t>(index) < all.size() ? &all[static_cast<size_t>(index)] : nullptr;
}

ToolErr no_category(int index) {
    return tool::refuse(ToolErr::invalid_index, "there is no category %d, there are %zu", index,
                        tool::categories().size());
}

// As many as there is room for.
ToolErr put_indices(const std::vector<int>& from, int length, int* to) {
    if (length < 0) return tool::refuse(ToolErr::invalid, "the length is %d", length);
    if (to == nullptr && length > 0) return no_place("indices");
    std::copy_n(from.begin(), std::min(from.size(), static_cast<size_t>(length)), to);
    return ToolErr::success;
}

} // namespace

ToolErr tool_init_thread(int required, int* provided) {
    const bool known =
        std::any_of(std::begin(values::listed_ThreadLevel), std::end(values::listed_ThreadLevel),
                    [&](const auto& row) { return row.code == required; });
    if (!known) return tool::refuse(ToolErr::invalid, "%d is no level of thread support", required);
    core::ThreadLevel level{};
    const ToolErr e = tool::init(level);
    put_wanted(provided, code_of(level));
    return e;
}

ToolErr tool_finalize() { return tool::finalize(); }

ToolErr tool_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
    const tool::Enumeration* const e = enumeration_of(enumtype);
    if (e == nullptr) return no_enumeration(enumtype);
    put_wanted(num, e->items.size());
    put_tool_text(e->name, name, name_len);
    return ToolErr::success;
}

ToolErr tool_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
    const tool::Enumeration* const e = enumeration_of(enumtype);
    if (e == nullptr) return no_enumeration(enumtype);
    if (index < 0 || static_cast<size_t>(index) >= e->items.size())
        return tool::refuse(ToolErr::invalid_item, "%s has no item %d, it has %zu", e->name, index,
                            e->items.size());
    const tool::Enumeration::Item& item = e->items[static_cast<size_t>(index)];
    put_wanted(value, item.value);
    put_tool_text(item.name, name, name_len);
    return ToolErr::success;
}

ToolErr tool_category_changed(int* update_number) {
    if (update_number == nullptr) return no_place("update_number");
    *update_number = tool::category_changes();
    return ToolErr::success;
}

ToolErr tool_category_get_num(int* num) {
    if (num == nullptr) return no_place("num_cat");
    *num = static_cast<int>(tool::categories().size());
    return ToolErr::success;
}

ToolErr tool_category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                               int* num_cvars, int* num_pvars, int* num_categories) {
    const tool::Category* const c = category(index);
    if (c == nullptr) return no_category(index);
    put_tool_text(c->name, name, name_len);
    put_tool_text(c->help, desc, desc_len);
    put_wanted(num_cvars, c->cvars.size());
    put_wanted(num_pvars, c->pvars.size());
    put_wanted(num_categories, 0);
    return ToolErr::success;
}

ToolErr tool_category_get_index(const char* name, int* index) {
    if (name == nullptr) return no_place("name");
    if (index == nullptr) return no_place("cat_index");
    const auto& all = tool::categories();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const tool::Category& c) { return c.name == name; });
    if (found == all.end()) return tool::refuse(ToolErr::invalid_name, "no category is named \"%s\"", name);
    *index = static_cast<int>(found - all.begin());
    return ToolErr::success;
}

ToolErr tool_category_get_cvars(int index, int length, int* indices) {
    const tool::Category* const c = category(index);
    return c != nullptr ? put_indices(c->cvars, length, indices) : no_category(index);
}

ToolErr tool_category_get_pvars(int index, int length, int* indices) {
    const tool::Category* const c = category(index);
    return c != nullptr ? put_indices(c->pvars, length, indices) : no_category(index);
}

ToolErr tool_category_get_categories(int index, int length, int* indices) {
    return category(index) != nullptr ? put_indices({}, length, indices) : no_category(index);
}

ToolErr tool_category_get_num_events(int index, int* num) {
    if (num == nullptr) return no_place("num_events");
    if (category(index) == nullptr) return no_category(index);
    *num = 0;
    return ToolErr::success;
}

ToolErr tool_category_get_events(int index, int length, int* indices) {
    return category(index) != nullptr ? put_indices({}, length, indices) : no_category(index);
}

} // namespace custom
} // namespace zipmpi::abi
