// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls on groups, communicators, attributes and names (MPI chapter 7).
#pragma once

#include "core/api/common.hpp"

#include <string>

namespace zipmpi::core {

// --- groups; ranks in lists are checked here
Err group_size(Group& group, int& size);
Err group_rank(Group& group, int& rank);
Err group_compare(Group& a, Group& b, Comparison& result);
Err group_translate_ranks(Group& a, int n, const int* ranks_a, Group& b, int* ranks_b);
Err group_incl(Group& group, int n, const int* ranks, Group*& result);
Err group_excl(Group& group, int n, const int* ranks, Group*& result);
Err group_range_incl(Group& group, int n, const int (*ranges)[3], Group*& result);
Err group_range_excl(Group& group, int n, const int (*ranges)[3], Group*& result);
Err group_union(Group& a, Group& b, Group*& result);
Err group_intersection(Group& a, Group& b, Group*& result);
Err group_difference(Group& a, Group& b, Group*& result);
Err group_from_session_pset(Session& session, const char* pset, Group*& group);
Err group_free(Group*& group);

// --- communicators
Err comm_size(Comm& comm, int& size);
Err comm_rank(Comm& comm, int& rank);
Err comm_compare(Comm& a, Comm& b, Comparison& result);
Err comm_group(Comm& comm, Group*& group);
Err comm_remote_size(Comm& comm, int& size);
Err comm_remote_group(Comm& comm, Group*& group);
Err comm_dup(Comm& comm, Comm*& copy);
Err comm_dup_with_info(Comm& comm, Info* info, Comm*& copy);
Err comm_idup(Comm& comm, Comm*& copy, Request*& request); // the copy may be used when the request is done
Err comm_idup_with_info(Comm& comm, Info* info, Comm*& copy, Request*& request);
Err comm_create(Comm& comm, Group& group, Comm*& result);
Err comm_create_group(Comm& comm, Group& group, int tag, Comm*& result);
Err comm_create_from_group(Group& group, const char* tag, Info* info, Errhandler& handler, Comm*& result);
Err comm_split(Comm& comm, int color, int key, Comm*& result);
Err comm_split_type(Comm& comm, SplitType type, int key, Info* info, Comm*& result);
Err comm_free(Comm*& comm);
Err comm_get_name(Comm* comm, std::string& name); // null handles have names, too
Err comm_set_name(Comm& comm, const char* name);
Err comm_get_info(Comm& comm, Info*& info);
Err comm_set_info(Comm& comm, Info* info);
Err comm_test_inter(Comm& comm, bool& flag);
Err intercomm_create(Comm& local, int local_leader, Comm* peer, int remote_leader, int tag, Comm*& result);
Err intercomm_create_from_groups(Group& here, int leader, Group& there, int other_leader, const char* tag,
                                 Info* info, Errhandler& handler, Comm*& result);
Err intercomm_merge(Comm& comm, bool high, Comm*& result);

// --- attributes; keys are made in core/attr/keyval.hpp
Err comm_set_attr(Comm& comm, uint32_t key, void* value);
Err comm_get_attr(Comm& comm, uint32_t key, void*& value, bool& found);
Err comm_delete_attr(Comm& comm, uint32_t key);
Err type_set_attr(Datatype& type, uint32_t key, void* value);
Err type_get_attr(Datatype& type, uint32_t key, void*& value, bool& found);
Err type_delete_attr(Datatype& type, uint32_t key);
Err win_set_attr(Win& win, uint32_t key, void* value);
Err win_get_attr(Win& win, uint32_t key, void*& value, bool& found);
Err win_delete_attr(Win& win, uint32_t key);
// The value is an int that lives as long as the library.
Err comm_get_predefined_attribute(Comm& comm, PredefinedAttribute which, const int*& value, bool& found);

// --- names of datatypes and windows
Err type_get_name(Datatype* type, std::string& name); // null: name of the null handle
Err type_set_name(Datatype& type, const char* name);
Err win_get_name(Win* win, std::string& name);
Err win_set_name(Win& win, const char* name);

} // namespace zipmpi::core
