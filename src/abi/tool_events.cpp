// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tool interface: events. There is one source, a clock. A registration is the address of the core handle, an
// instance that of the core instance.
#include "abi/handles.hpp"
#include "abi/results.hpp"
#include "abi/tool.hpp"
#include "core/api/info.hpp"

#include <algorithm>
#include <limits>

namespace zipmpi::abi::custom {

namespace tool = core::tool;

namespace {

constexpr int only_source = 0;

// In the order of CallbackSafety.
constexpr MPI_T_cb_safety safety_codes[tool::safety_levels] = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

MPI_T_cb_safety code_of(tool::CallbackSafety safety) { return safety_codes[static_cast<size_t>(safety)]; }

ToolErr find_safety(MPI_T_cb_safety code, tool::CallbackSafety& safety) {
    const auto* const found = std::find(std::begin(safety_codes), std::end(safety_codes), code);
    if (found == std::end(safety_codes))
        return tool::set_error(ToolErr::invalid, "%d is not a valid callback safety", static_cast<int>(code));
    safety = static_cast<tool::CallbackSafety>(found - safety_codes);
    return ToolErr::success;
}

ToolErr no_event(int index) {
    return tool::set_error(ToolErr::invalid_index, "event index %d is out of range: there are %d", index,
                           tool::events());
}

ToolErr no_source(int index) {
    return tool::set_error(ToolErr::invalid_index, "event source index %d is out of range: there is one",
                           index);
}

tool::EventRegistration* registration_of(MPI_T_event_registration handle) {
    return reinterpret_cast<tool::EventRegistration*>(handle);
}
MPI_T_event_registration handle_of_event(tool::EventRegistration* registration) {
    return reinterpret_cast<MPI_T_event_registration>(registration);
}
const tool::EventInstance* instance_of(MPI_T_event_instance instance) {
    return reinterpret_cast<const tool::EventInstance*>(instance);
}

void call_back(const tool::EventCallback& callback, const tool::EventInstance* instance,
               tool::EventRegistration* handle, tool::CallbackSafety context) {
    reinterpret_cast<MPI_T_event_cb_function*>(callback.function)(
        reinterpret_cast<MPI_T_event_instance>(const_cast<tool::EventInstance*>(instance)),
        handle_of_event(handle), code_of(context), callback.user_data);
}

void report_dropped(tool::ToolFunction function, int64_t count, tool::EventRegistration* handle,
                    tool::CallbackSafety context, void* user_data) {
    reinterpret_cast<MPI_T_event_dropped_cb_function*>(function)(count, handle_of_event(handle), only_source,
                                                                 code_of(context), user_data);
}

// An info object without hints, if the caller wants one.
ToolErr put_empty_info(MPI_Info* info) {
    if (info == nullptr) return ToolErr::success;
    core::Info* hints = nullptr;
    if (core::info_create(hints) != Err::success)
        return tool::set_error(ToolErr::memory, "no memory for an info object");
    *info = handle_of(hints);
    return ToolErr::success;
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
    if (index != only_source) return no_source(index);
    put_tool_text("clock", name, name_len);
    put_tool_text("ZipMPI events, with the monotonic clock of the host", desc, desc_len);
    put_optional(ordering, MPI_T_SOURCE_ORDERED);
    put_optional(ticks_per_second, tool::ticks_per_second);
    put_optional(max_ticks, std::numeric_limits<MPI_Count>::max());
    return put_empty_info(info);
}

ToolErr tool_source_get_timestamp(int index, MPI_Count* timestamp) {
    if (timestamp == nullptr) return null_result("timestamp");
    if (index != only_source) return no_source(index);
    *timestamp = tool::ticks();
    return ToolErr::success;
}

ToolErr tool_event_get_num(int* num) {
    if (num == nullptr) return null_result("num_events");
    *num = tool::events();
    return ToolErr::success;
}

ToolErr tool_event_get_index(const char* name, int* index) {
    if (name == nullptr) return null_result("name");
    if (index == nullptr) return null_result("event_index");
    const int found = tool::find_event(name);
    if (found < 0) return tool::set_error(ToolErr::invalid_name, "no event type is named \"%s\"", name);
    *index = found;
    return ToolErr::success;
}

// As many elements as fit are described; their number is returned.
ToolErr tool_event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatypes,
                            MPI_Aint* displacements, int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
                            char* desc, int* desc_len, int* bind) {
    tool::Variable v;
    int elements = 0;
    if (!tool::event_info(index, v, elements)) return no_event(index);
    put_tool_text(v.name, name, name_len);
    put_tool_text(v.help, desc, desc_len);
    put_optional(verbosity, abi::code_of(v.verbosity));
    put_optional(bind, abi::code_of(v.binding));
    if (enumtype != nullptr) *enumtype = MPI_T_ENUM_NULL;
    if (num_elements != nullptr) {
        for (int i = 0; i < std::min(*num_elements, elements); ++i) {
            if (datatypes != nullptr) datatypes[i] = MPI_COUNT;
            if (displacements != nullptr) displacements[i] = i * static_cast<MPI_Aint>(sizeof(MPI_Count));
        }
        *num_elements = elements;
    }
    return put_empty_info(info);
}

ToolErr tool_event_handle_alloc(int index, void*, MPI_Info, MPI_T_event_registration* registration) {
    if (registration == nullptr) return null_result("event_registration");
    if (index < 0 || index >= tool::events()) return no_event(index);
    tool::EventRegistration* handle = nullptr;
    const ToolErr e = tool::open_event(index, handle);
    *registration = handle_of_event(handle);
    return e;
}

ToolErr tool_event_handle_free(MPI_T_event_registration registration, void* user_data,
                               MPI_T_event_free_cb_function* function) {
    const ToolErr e = tool::close_event(registration_of(registration));
    if (e == ToolErr::success && function != nullptr)
        function(registration, MPI_T_CB_REQUIRE_NONE, user_data);
    return e;
}

ToolErr tool_event_handle_get_info(MPI_T_event_registration registration, MPI_Info* info) {
    if (info == nullptr) return null_result("info_used");
    const ToolErr e = tool::check_event(registration_of(registration));
    return e == ToolErr::success ? put_empty_info(info) : e;
}

// No hint is known.
ToolErr tool_event_handle_set_info(MPI_T_event_registration registration, MPI_Info) {
    return tool::check_event(registration_of(registration));
}

ToolErr tool_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety, MPI_Info,
                                     void* user_data, MPI_T_event_cb_function* function) {
    tool::CallbackSafety level{};
    if (const ToolErr e = tool::check_event(registration_of(registration)); e != ToolErr::success) return e;
    if (const ToolErr e = find_safety(safety, level); e != ToolErr::success) return e;
    return tool::set_event_callback(registration_of(registration), level,
                                    {reinterpret_cast<tool::ToolFunction>(function), user_data, call_back});
}

ToolErr tool_event_callback_get_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                     MPI_Info* info) {
    if (const ToolErr e = tool_event_callback_set_info(registration, safety, MPI_INFO_NULL);
        e != ToolErr::success)
        return e;
    return info != nullptr ? put_empty_info(info) : null_result("info_used");
}

ToolErr tool_event_callback_set_info(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                     MPI_Info) {
    tool::CallbackSafety level{};
    const ToolErr e = tool::check_event(registration_of(registration));
    return e == ToolErr::success ? find_safety(safety, level) : e;
}

ToolErr tool_event_set_dropped_handler(MPI_T_event_registration registration,
                                       MPI_T_event_dropped_cb_function* function) {
    return tool::set_dropped_handler(registration_of(registration),
                                     {reinterpret_cast<tool::ToolFunction>(function), report_dropped});
}

ToolErr tool_event_read(MPI_T_event_instance instance, int element, void* buffer) {
    if (buffer == nullptr) return null_result("buffer");
    return tool::read_event(instance_of(instance), element, buffer);
}

ToolErr tool_event_copy(MPI_T_event_instance instance, void* buffer) {
    if (buffer == nullptr) return null_result("buffer");
    return tool::copy_event(instance_of(instance), buffer);
}

ToolErr tool_event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp) {
    if (timestamp == nullptr) return null_result("event_timestamp");
    int64_t time = 0;
    const ToolErr e = tool::time_of_event(instance_of(instance), time);
    if (e == ToolErr::success) *timestamp = time;
    return e;
}

ToolErr tool_event_get_source(MPI_T_event_instance instance, int* source_index) {
    if (source_index == nullptr) return null_result("source_index");
    MPI_Count time = 0; // exists if the instance is valid
    const ToolErr e = tool_event_get_timestamp(instance, &time);
    if (e == ToolErr::success) *source_index = only_source;
    return e;
}

} // namespace zipmpi::abi::custom
