// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tool interface (MPI_T) for ABI bindings: parameters as control variables, counters of the rank as
// performance variables. Usable before MPI_Init and after MPI_Finalize; counters are 0 until the runtime
// starts.
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
    std::lock_guard<std::mutex> guard_;
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

// --- categories: the prefix of variable names before the dot
struct Category {
    std::string name;
    std::string help;
    std::vector<int> cvars;
    std::vector<int> pvars;
};
const std::vector<Category>& categories();
int category_changes(); // increases with every change

// --- event source: a clock. No event types are defined.
inline constexpr int64_t ticks_per_second = 1'000'000'000;
int64_t ticks();

// Closes all handles and sessions at the last finalize.
void close_all_cvars();
void close_all_sessions();

} // namespace zipmpi::core::tool
