// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tool interface (MPI_T) as a face sees it: knobs as control variables, counters of the rank as
// performance variables. It works before MPI_Init and after MPI_Finalize; counters are 0 until the engine is
// there.
//
// Threads: everything below is called with a Use on the stack, which holds the interface's own lock.
#pragma once

#include "core/api.hpp"
#include "core/builtin.hpp"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::core::tool {

// Says why and gives the code back.
[[gnu::cold, gnu::format(printf, 2, 3)]] ToolErr refuse(ToolErr code, const char* why, ...);

// Counted: each init needs its finalize.
ToolErr init(ThreadLevel& provided);
ToolErr finalize();

// The time inside the interface.
class Use {
  public:
    Use();
    // success, or that nobody has initialised it
    [[nodiscard]] ToolErr allowed() const;

  private:
    std::lock_guard<std::mutex> guard_;
};

// Values with names.
struct Enumeration {
    struct Item {
        int value;
        const char* name;
    };
    const char* name;
    std::vector<Item> items;
};
const Enumeration& yes_or_no();
bool is_enumeration(const void* handle);

struct Variable {
    std::string_view name;
    std::string_view help;
    Verbosity verbosity = Verbosity::user;
    TypeId type = TypeId::COUNT;
    const Enumeration* enumeration = nullptr;
    Binding binding = Binding::none;
};

// --- control variables. Indices stay: knobs of modules that are loaded later come behind.
int cvars();
bool cvar_info(int index, Variable& variable, CvarScope& scope);
int find_cvar(std::string_view name); // -1: there is none
struct Cvar;                          // a handle
ToolErr open_cvar(int index, Cvar*& handle, int& count);
ToolErr close_cvar(Cvar* handle);
ToolErr read_cvar(Cvar* handle, void* buffer);
ToolErr write_cvar(Cvar* handle, const void* buffer);

// --- performance variables, all of them uint64_t
struct PvarMarks {
    PvarClass cls = PvarClass::counter;
    bool read_only = false;
    bool continuous = false;
    bool atomic = true;
};
int pvars();
bool pvar_info(int index, Variable& variable, PvarMarks& marks);
int find_pvar(std::string_view name, PvarClass cls);

struct PvarSession;
struct Pvar; // a handle
inline Pvar* const all_handles = reinterpret_cast<Pvar*>(1);
ToolErr open_session(PvarSession*& session);
ToolErr close_session(PvarSession* session);
// comm: what it is bound to, if it is bound to a communicator
ToolErr open_pvar(PvarSession* session, int index, const Comm* comm, Pvar*& handle, int& count);
ToolErr close_pvar(PvarSession* session, Pvar* handle);
ToolErr start_pvar(PvarSession* session, Pvar* handle); // or all_handles, for these three
ToolErr stop_pvar(PvarSession* session, Pvar* handle);
ToolErr reset_pvar(PvarSession* session, Pvar* handle);
ToolErr read_pvar(PvarSession* session, Pvar* handle, void* buffer);
ToolErr read_and_reset_pvar(PvarSession* session, Pvar* handle, void* buffer);
ToolErr write_pvar(PvarSession* session, Pvar* handle, const void* buffer);

// --- categories: what is before the dot in the names of variables
struct Category {
    std::string name;
    std::string help;
    std::vector<int> cvars;
    std::vector<int> pvars;
};
const std::vector<Category>& categories();
int category_changes(); // grows when one has changed

// --- the one source of events: a clock. There are no events yet.
inline constexpr int64_t ticks_per_second = 1'000'000'000;
int64_t ticks();

// All handles and sessions; when the last one has finalised the interface.
void close_all_cvars();
void close_all_sessions();

} // namespace zipmpi::core::tool
