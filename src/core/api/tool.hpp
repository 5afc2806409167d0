// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tool interface (MPI_T) for ABI bindings: parameters as control variables, counters of the rank as
// performance variables, events of its progress engine. Usable before MPI_Init and after MPI_Finalize;
// counters are 0 until the runtime starts.
//
// Threads: every function below is called with a ToolLock on the stack, which holds the lock of the
// interface.
#pragma once

#include "core/api/common.hpp"
#include "core/builtin.hpp"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::core::tool {

// Records the reason and returns the code.
[[gnu::cold, gnu::format(printf, 2, 3)]] ToolErr set_error(ToolErr code, const char* why, ...);

// Counted: each init needs a finalize.
ToolErr init(ThreadLevel& provided);
ToolErr finalize();

// Lock of the interface, held for its lifetime.
class ToolLock {
  public:
    ToolLock();
    // success, or an error if the interface is not initialized
    [[nodiscard]] ToolErr check_initialized() const;

  private:
    std::lock_guard<std::recursive_mutex> guard_; // callbacks of the tool may use the interface
};

// Named values.
struct Enumeration {
    struct Item {
        int value;
        const char* name;
    };
    const char* name;
    std::vector<Item> items;
};
const Enumeration& boolean_enumeration();
bool is_enumeration(const void* handle);

struct Variable {
    std::string_view name;
    std::string_view help;
    Verbosity verbosity = Verbosity::user;
    TypeId type = TypeId::COUNT;
    const Enumeration* enumeration = nullptr;
    Binding binding = Binding::none;
};

// --- control variables. Indices are stable: parameters of modules that are loaded later are appended.
int cvars();
bool cvar_info(int index, Variable& variable, CvarScope& scope);
int find_cvar(std::string_view name); // -1: not found
struct Cvar;                          // handle
ToolErr open_cvar(int index, Cvar*& handle, int& count);
ToolErr close_cvar(Cvar* handle);
ToolErr read_cvar(Cvar* handle, void* buffer);
ToolErr write_cvar(Cvar* handle, const void* buffer);

// --- performance variables, all of type uint64_t
struct PvarFlags {
    PvarClass cls = PvarClass::counter;
    bool read_only = false;
    bool continuous = false;
    bool atomic = true;
};
int pvars();
bool pvar_info(int index, Variable& variable, PvarFlags& flags);
int find_pvar(std::string_view name, PvarClass cls);

struct PvarSession;
struct Pvar; // handle
inline Pvar* const all_handles = reinterpret_cast<Pvar*>(1);
ToolErr open_session(PvarSession*& session);
ToolErr close_session(PvarSession* session);
// comm: the communicator the variable is bound to, if any
ToolErr open_pvar(PvarSession* session, int index, const Comm* comm, Pvar*& handle, int& count);
ToolErr close_pvar(PvarSession* session, Pvar* handle);
ToolErr start_pvar(PvarSession* session, Pvar* handle); // or all_handles, for these three
ToolErr stop_pvar(PvarSession* session, Pvar* handle);
ToolErr reset_pvar(PvarSession* session, Pvar* handle);
ToolErr read_pvar(PvarSession* session, Pvar* handle, void* buffer);
ToolErr read_and_reset_pvar(PvarSession* session, Pvar* handle, void* buffer);
ToolErr write_pvar(PvarSession* session, Pvar* handle, const void* buffer);

// --- categories: the prefix of names before the dot
struct Category {
    std::string name;
    std::string help;
    std::vector<int> cvars;
    std::vector<int> pvars;
    std::vector<int> events;
};
const std::vector<Category>& categories();
int category_changes(); // increases with every change

// --- events, raised by the progress engine. All elements are int64_t, and no event is bound to an object.
inline constexpr int64_t ticks_per_second = 1'000'000'000; // of the only source, a clock
int64_t ticks();
int events();
bool event_info(int index, Variable& variable, int& elements);
int find_event(std::string_view name); // -1: not found

struct EventRegistration; // handle
struct EventInstance;     // exists during its callback
// What a callback fulfills or, for a context, requires; each level includes those before it.
enum class CallbackSafety : uint8_t { none, mpi_restricted, thread_safe, async_signal_safe };
inline constexpr size_t safety_levels = 4;
// Functions of the tool. Their types are known to the ABI binding, which calls them.
using ToolFunction = void (*)();
struct EventCallback {
    ToolFunction function = nullptr; // null: none
    void* user_data = nullptr;
    void (*call)(const EventCallback& callback, const EventInstance* instance, EventRegistration* handle,
                 CallbackSafety context) = nullptr;
};
struct DroppedHandler {
    ToolFunction function = nullptr;
    void (*call)(ToolFunction function, int64_t count, EventRegistration* handle, CallbackSafety context,
                 void* user_data) = nullptr;
};
ToolErr open_event(int index, EventRegistration*& handle);
ToolErr close_event(EventRegistration* handle);
ToolErr check_event(EventRegistration* handle); // whether it is valid
ToolErr set_event_callback(EventRegistration* handle, CallbackSafety safety, const EventCallback& callback);
ToolErr set_dropped_handler(EventRegistration* handle, const DroppedHandler& handler);
// Without a ToolLock: only these may be called by a callback.
bool in_event_callback();
[[gnu::cold]] ToolErr refuse_in_callback();
ToolErr read_event(const EventInstance* instance, int element, void* buffer);
ToolErr copy_event(const EventInstance* instance, void* buffer);
ToolErr time_of_event(const EventInstance* instance, int64_t& time);

// Closes all handles and sessions at the last finalize.
void close_all_cvars();
void close_all_sessions();
void close_all_events();

} // namespace zipmpi::core::tool
