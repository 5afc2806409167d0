// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tool interface: events. There is one source, a clock, and no event type: no registrations or instances
// exist, and every handle of one is invalid.
#include "abi/handles.hpp"
#include "abi/tool.hpp"
#include "core/api/info.hpp"

#include <limits>

namespace zipmpi::abi::custom {

namespace tool = core::tool;

namespace {

ToolErr no_event(int index) {
    return tool::set_error(ToolErr::invalid_index,
                           "event index %d is out of range: this library defines no event types", index);
}

ToolErr no_source(int index) {
    return tool::set_error(ToolErr::invalid_index, "event source index %d is out of range: there is one",
                           index);
}

ToolErr no_registration() {
    return tool::set_error(ToolErr::invalid_handle,
                           "the event registration is not valid: this library defines no event types");
}

ToolErr no_instance() {
    return tool::set_error(ToolErr::invalid_handle,
                           "the event instance is not valid: this library defines no event types");
}

} // namespace

ToolErr tool_source_get_num(int* num) {
    if (num == nullptr) return null_result("num_sources");
    *num = 1;
    return ToolErr::success;
}

ToolErr tool_source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                             MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                             MPI_Info* info) {
    if (index != 0) return no_source(index);
    put_tool_text("clock", name, name_len);
    put_tool_text("ZipMPI events, with the monotonic clock of the host", desc, desc_len);
    put_optional(ordering, MPI_T_SOURCE_ORDERED);
    put_optional(ticks_per_second, tool::ticks_per_second);
    put_optional(max_ticks, std::numeric_limits<MPI_Count>::max());
    if (info == nullptr) return ToolErr::success;
    core::Info* hints = nullptr;
    if (core::info_create(hints) != Err::success)
        return tool::set_error(ToolErr::memory, "no memory for an info object");
    *info = handle_of(hints);
    return ToolErr::success;
}

ToolErr tool_source_get_timestamp(int index, MPI_Count* timestamp) {
    if (timestamp == nullptr) return null_result("timestamp");
    if (index != 0) return no_source(index);
    *timestamp = tool::ticks();
    return ToolErr::success;
}

ToolErr tool_event_get_num(int* num) {
    if (num == nullptr) return null_result("num_events");
    *num = 0;
    return ToolErr::success;
}

ToolErr tool_event_get_index(const char* name, int* index) {
    if (name == nullptr) return null_result("name");
    if (index == nullptr) return null_result("event_index");
    return tool::set_error(ToolErr::invalid_name, "no event type is named \"%s\"", name);
}

ToolErr tool_event_get_info(int index, char*, int*, int*, MPI_Datatype*, MPI_Aint*, int*, MPI_T_enum*,
                            MPI_Info*, char*, int*, int*) {
    return no_event(index);
}

ToolErr tool_event_handle_alloc(int index, void*, MPI_Info, MPI_T_event_registration*) {
    return no_event(index);
}

ToolErr tool_event_handle_free(MPI_T_event_registration, void*, MPI_T_event_free_cb_function*) {
    return no_registration();
}

ToolErr tool_event_handle_get_info(MPI_T_event_registration, MPI_Info*) { return no_registration(); }
ToolErr tool_event_handle_set_info(MPI_T_event_registration, MPI_Info) { return no_registration(); }

ToolErr tool_event_register_callback(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*,
                                     MPI_T_event_cb_function*) {
    return no_registration();
}

ToolErr tool_event_callback_get_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*) {
    return no_registration();
}

ToolErr tool_event_callback_set_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info) {
    return no_registration();
}

ToolErr tool_event_set_dropped_handler(MPI_T_event_registration, MPI_T_event_dropped_cb_function*) {
    return no_registration();
}

ToolErr tool_event_read(MPI_T_event_instance, int, void*) { return no_instance(); }
ToolErr tool_event_copy(MPI_T_event_instance, void*) { return no_instance(); }
ToolErr tool_event_get_timestamp(MPI_T_event_instance, MPI_Count*) { return no_instance(); }
ToolErr tool_event_get_source(MPI_T_event_instance, int*) { return no_instance(); }

} // namespace zipmpi::abi::custom
