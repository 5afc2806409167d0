// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions implemented in the ABI binding because they depend on its codes, statuses and handle values. The
// tables mark them as custom; arguments are passed as to a core target (core/api/common.hpp), a status marked
// raw as MPI_Status&.
#pragma once

#include "abi/handles.hpp"
#include "abi/status.hpp"
#include "binding/handle_integers.hpp"

#include <string>

namespace zipmpi::abi::custom {

Err init(int* argc, char*** argv);
Err init_thread(int* argc, char*** argv, core::ThreadLevel required, core::ThreadLevel& provided);
Err session_init(core::Info* info, core::Errhandler* errhandler, core::Session*& session);
Err finalize();
Err get_version(int& version, int& subversion);
Err get_library_version(std::string& text);
Err pcontrol(int level);
Err abi_get_version(int& major, int& minor);
Err abi_get_info(core::Info*& info);
Err abi_set_fortran_info(core::Info* info);
Err abi_get_fortran_info(core::Info*& info); // null: not set
Err abi_set_fortran_booleans(int size, void* true_value, void* false_value);
Err abi_get_fortran_booleans(int size, void* true_value, void* false_value, bool& is_set);

// --- errors
Err error_class(int code, int& error_class);
Err error_string(int code, std::string& text);
Err comm_call_errhandler(core::Comm& comm, int code);
Err session_call_errhandler(core::Session& session, int code);
Err win_call_errhandler(core::Win& win, int code);
Err file_call_errhandler(core::File* file, int code);
Err add_error_class(int& error_class);
Err add_error_code(int error_class, int& code);
Err add_error_string(int code, const char* text);
Err remove_error_class(int error_class);
Err remove_error_code(int code);
Err remove_error_string(int code);

// --- attributes
Err comm_create_keyval(void* copy, void* erase, int& keyval, void* extra_state);
Err type_create_keyval(void* copy, void* erase, int& keyval, void* extra_state);
Err win_create_keyval(void* copy, void* erase, int& keyval, void* extra_state);
Err comm_free_keyval(int& keyval);
Err type_free_keyval(int& keyval);
Err win_free_keyval(int& keyval);
Err comm_set_attr(core::Comm& comm, int keyval, void* value);
Err type_set_attr(core::Datatype& type, int keyval, void* value);
Err win_set_attr(core::Win& win, int keyval, void* value);
Err comm_delete_attr(core::Comm& comm, int keyval);
Err type_delete_attr(core::Datatype& type, int keyval);
Err win_delete_attr(core::Win& win, int keyval);
Err comm_get_attr(core::Comm& comm, int keyval, void* value, bool& found);
Err type_get_attr(core::Datatype& type, int keyval, void* value, bool& found);
Err win_get_attr(core::Win& win, int keyval, void* value, bool& found);

// --- info objects
Err info_get_nthkey(core::Info& info, int n, char* key);
Err info_get_string(core::Info& info, const char* key, int& length, char* value, bool& found);
Err info_get(core::Info& info, const char* key, int length, char* value, bool& found);
Err info_get_valuelen(core::Info& info, const char* key, int& length, bool& found);

// --- generalized requests
Err grequest_start(void* query_function, void* free_function, void* cancel_function, void* extra_state,
                   core::Request*& request);
Err grequest_complete(core::Request& request);

// --- buffered sends
Err buffer_attach(void* memory, int64_t size);

// --- user-defined operations
Err op_create(MPI_User_function* function, bool commutes, core::Op*& op);
Err op_create(MPI_User_function_c* function, bool commutes, core::Op*& op);

// --- files
Err file_get_view(core::File& file, int64_t& displacement, core::Datatype*& etype, core::Datatype*& filetype,
                  char* representation);
Err register_datarep(const char* name, MPI_Datarep_conversion_function* read,
                     MPI_Datarep_conversion_function* write, void* extent, void* extra_state);
Err register_datarep(const char* name, MPI_Datarep_conversion_function_c* read,
                     MPI_Datarep_conversion_function_c* write, void* extent, void* extra_state);

// --- dynamic process management
Err comm_spawn(const char* command, char** argv, int maxprocs, core::Info* info, int root, core::Comm& comm,
               core::Comm*& intercomm, int* errcodes);
Err comm_spawn_multiple(int64_t count, char** commands, char*** argvs, const int* maxprocs,
                        const MPI_Info* infos, int root, core::Comm& comm, core::Comm*& intercomm,
                        int* errcodes);
Err open_port(core::Info* info, char* name);
Err lookup_name(const char* service, core::Info* info, char* name);

// --- statuses
Err status_get_source(const MPI_Status& status, int& source);
Err status_get_tag(const MPI_Status& status, int& tag);
Err status_get_error(const MPI_Status& status, int& error);
Err status_set_source(MPI_Status& status, int source);
Err status_set_tag(MPI_Status& status, int tag);
Err status_set_error(MPI_Status& status, int error);
Err test_cancelled(const MPI_Status& status, bool& cancelled);
Err status_set_cancelled(MPI_Status& status, bool cancelled);
Err status_set_elements(MPI_Status& status, core::Datatype& type, int64_t count);

// --- functions that return values
MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) noexcept;
MPI_Aint aint_diff(MPI_Aint a, MPI_Aint b) noexcept;

} // namespace zipmpi::abi::custom
