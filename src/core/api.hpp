// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Internal MPI API called by the generated ABI entry points. The entry points convert handles to objects,
// check what the parameter kinds allow, and call these functions; the tables in spec/functions name them as
// targets. Nothing here depends on handle values, status layouts or error numbers of an ABI.
//
// Conventions for targets, in the order of the MPI function's parameters:
//   handle in -> T&, out and inout -> T*& (null = the null handle), arrays -> T** with their length before
//   counts, sizes, displacements -> int64_t; arrays of them -> CountArray; ranks and tags -> int
//   logical out -> bool&, arrays of them -> int* (not 0: true); status out -> Status*, null = ignored; text
//   out -> std::string&
// Threads: the ABI binding holds the progress engine lock (core/runtime.hpp) around each call unless its
// table row says otherwise.
#pragma once

#include "base/err.hpp"
#include "core/attr/keyval.hpp"
#include "core/dpm/dpm_api.hpp"
#include "core/fault/fault_api.hpp"
#include "core/object.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::core {

// Special values in core's own encoding.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -2;
inline constexpr int proc_null = -3;
inline constexpr int root_here = -4; // MPI_ROOT
inline constexpr int undefined = -32766;
inline constexpr int tag_max = 2147483647;
inline constexpr int order_c = 0xC;
inline constexpr int order_fortran = 0xF;
inline constexpr int distribute_none = 16;
inline constexpr int distribute_block = 17;
inline constexpr int distribute_cyclic = 18;
inline constexpr int distribute_default = 19; // no distribution argument
inline constexpr int mode_nocheck = 1024;     // assertions of chapter 12
inline constexpr int mode_noprecede = 2048;
inline constexpr int mode_noput = 4096;
inline constexpr int mode_nostore = 8192;
inline constexpr int mode_nosucceed = 16384;
inline const void* const in_place = reinterpret_cast<const void*>(1);
inline const int* const unweighted = reinterpret_cast<const int*>(3);    // MPI_UNWEIGHTED
inline const int* const weights_empty = reinterpret_cast<const int*>(4); // MPI_WEIGHTS_EMPTY
inline void* const automatic_buffer = reinterpret_cast<void*>(2);        // MPI_BUFFER_AUTOMATIC

struct Status {
    int source = any_source;
    int tag = any_tag;
    Err error = Err::success;
    bool cancelled = false;
    int64_t bytes = 0;
};

// Array of counts or displacements with elements of int or MPI_Count, as the caller passed it.
struct CountArray {
    const void* data = nullptr;
    bool wide = false;
    int64_t operator[](int64_t i) const {
        return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
    }
};

enum class ThreadLevel { single, funneled, serialized, multiple };
enum class Comparison { ident, congruent, similar, unequal };
enum class TypeClass { integer, real, complex, logical };
enum class Combiner {
    named,
    dup,
    contiguous,
    vector,
    hvector,
    indexed,
    hindexed,
    indexed_block,
    hindexed_block,
    structure,
    subarray,
    darray,
    f90_real,
    f90_complex,
    f90_integer,
    resized,
    value_index
};
enum class TopologyKind { none, cart, graph, dist_graph };
enum class LockType { exclusive, shared };
enum class WinFlavor { create, allocate, dynamic, shared };
enum class WinAttribute { base, size, disp_unit, create_flavor, model };
enum class SplitType { shared, hw_guided, hw_unguided, resource_guided, none };

// --- startup and shutdown (chapter 11)
Err init(int* argc, char*** argv);
Err init_thread(int* argc, char*** argv, ThreadLevel required, ThreadLevel& provided);
Err initialized(bool& flag);
Err finalize();
Err finalized(bool& flag);
Err abort(Comm& comm, int code);
Err query_thread(ThreadLevel& provided);
Err is_thread_main(bool& flag);
Err session_init(Info* info, Errhandler* errhandler, Session*& session); // either may be null
Err session_finalize(Session*& session);
Err session_get_num_psets(Session& session, Info* info, int& count);
Err session_get_nth_pset(Session& session, Info* info, int n, std::string& name);
Err session_get_info(Session& session, Info*& info);
Err session_get_pset_info(Session& session, const char* pset, Info*& info);
Err comm_disconnect(Comm*& comm);
Err comm_get_parent(Comm*& parent); // null: not spawned

// --- environment (chapter 9)
double wtime();
double wtick();
Err get_processor_name(std::string& name);
Err get_version(int& version, int& subversion);
Err get_library_version(std::string& text);
Err alloc_mem(int64_t size, Info* info, void*& base);
Err free_mem(void* base);
Err get_address(const void* location, int64_t& address);
Err errhandler_free(Errhandler*& handler);
Err comm_create_errhandler(void* user_function, Errhandler*& handler);
Err comm_set_errhandler(Comm& comm, Errhandler& handler);
Err comm_get_errhandler(Comm& comm, Errhandler*& handler);
Err session_create_errhandler(void* user_function, Errhandler*& handler);
Err session_set_errhandler(Session& session, Errhandler& handler);
Err session_get_errhandler(Session& session, Errhandler*& handler);
Err win_create_errhandler(void* user_function, Errhandler*& handler);
Err win_set_errhandler(Win& win, Errhandler& handler);
Err win_get_errhandler(Win& win, Errhandler*& handler);
Err file_create_errhandler(void* user_function, Errhandler*& handler);
Err file_set_errhandler(File* file, Errhandler& handler); // null: initial handler of files
Err file_get_errhandler(File* file, Errhandler*& handler);
Err get_hw_resource_info(Info*& info);

// --- info objects (chapter 10)
Err info_create(Info*& info);
Err info_create_env(int argc, char** argv, Info*& info);
Err info_dup(Info& info, Info*& copy);
Err info_free(Info*& info);
Err info_set(Info& info, const char* key, const char* value);
Err info_delete(Info& info, const char* key);
Err info_find(Info& info, const char* key, const std::string*& value); // null: no such key
Err info_get_nkeys(Info& info, int& count);
Err info_get_nthkey(Info& info, int n, std::string& key);

// --- groups (chapter 7); ranks in lists are checked here
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

// --- communicators (chapter 7)
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

// --- attributes and names (chapter 7); keys are made in core/attr/keyval.hpp
Err comm_set_attr(Comm& comm, uint32_t key, void* value);
Err comm_get_attr(Comm& comm, uint32_t key, void*& value, bool& found);
Err comm_delete_attr(Comm& comm, uint32_t key);
Err type_set_attr(Datatype& type, uint32_t key, void* value);
Err type_get_attr(Datatype& type, uint32_t key, void*& value, bool& found);
Err type_delete_attr(Datatype& type, uint32_t key);
Err win_set_attr(Win& win, uint32_t key, void* value);
Err win_get_attr(Win& win, uint32_t key, void*& value, bool& found);
Err win_delete_attr(Win& win, uint32_t key);
Err win_get_name(Win* win, std::string& name);
Err win_set_name(Win& win, const char* name);
// Predefined attributes. The value is an int that lives as long as the library.
enum class PredefinedAttribute {
    tag_ub,
    io,
    host,
    wtime_is_global,
    appnum,
    lastusedcode,
    universe_size,
    fault_tolerant
};
Err comm_get_predefined_attribute(Comm& comm, PredefinedAttribute which, const int*& value, bool& found);

// --- datatypes (chapter 5); `large`: the large-count form was called, for MPI_Type_get_contents
Err type_size(Datatype& type, int64_t& size);
Err type_get_extent(Datatype& type, int64_t& lower, int64_t& extent);
Err type_get_true_extent(Datatype& type, int64_t& lower, int64_t& extent);
Err type_commit(Datatype*& type);
Err type_free(Datatype*& type);
Err type_get_name(Datatype* type, std::string& name); // null: name of the null handle
Err type_set_name(Datatype& type, const char* name);
Err get_count(const Status& status, Datatype& type, int64_t& count);    // undefined if not a multiple
Err get_elements(const Status& status, Datatype& type, int64_t& count); // undefined if not a multiple
int64_t bytes_of_elements(const Datatype& type, int64_t elements);      // basic elements
Err type_contiguous(int64_t count, Datatype& old, Datatype*& type, bool large);
Err type_vector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type, bool large);
Err type_create_hvector(int64_t count, int64_t block, int64_t stride, Datatype& old, Datatype*& type,
                        bool large);
Err type_indexed(int64_t count, CountArray blocks, CountArray displs, Datatype& old, Datatype*& type,
                 bool large);
Err type_create_hindexed(int64_t count, CountArray blocks, CountArray displs, Datatype& old, Datatype*& type,
                         bool large);
Err type_create_indexed_block(int64_t count, int64_t block, CountArray displs, Datatype& old, Datatype*& type,
                              bool large);
Err type_create_hindexed_block(int64_t count, int64_t block, CountArray displs, Datatype& old,
                               Datatype*& type, bool large);
Err type_create_struct(int64_t count, CountArray blocks, CountArray displs, Datatype** types, Datatype*& type,
                       bool large);
Err type_create_subarray(int64_t dims, CountArray sizes, CountArray subsizes, CountArray starts, int order,
                         Datatype& old, Datatype*& type, bool large);
Err type_create_darray(int size, int rank, int64_t dims, CountArray sizes, const int* distributions,
                       const int* arguments, const int* psizes, int order, Datatype& old, Datatype*& type,
                       bool large);
Err type_create_resized(Datatype& old, int64_t lower, int64_t extent, Datatype*& type, bool large);
Err type_dup(Datatype& old, Datatype*& type);
Err type_get_value_index(Datatype& value, Datatype& index, Datatype*& pair); // null: none
Err type_create_f90_real(int precision, int range, Datatype*& type);
Err type_create_f90_complex(int precision, int range, Datatype*& type);
Err type_create_f90_integer(int range, Datatype*& type);
Err type_match_size(TypeClass type_class, int size, Datatype*& type);
Err type_get_envelope(Datatype& type, int64_t& integers, int64_t& addresses, int64_t& types,
                      Combiner& combiner);
Err type_get_envelope(Datatype& type, int64_t& integers, int64_t& addresses, int64_t& large_counts,
                      int64_t& types, Combiner& combiner);
Err type_get_contents(Datatype& type, int64_t max_integers, int64_t max_addresses, int64_t max_types,
                      int* integers, int64_t* addresses, Datatype** types);
Err type_get_contents(Datatype& type, int64_t max_integers, int64_t max_addresses, int64_t max_large_counts,
                      int64_t max_types, int* integers, int64_t* addresses, int64_t* large_counts,
                      Datatype** types);
Err pack(const void* in, int64_t count, Datatype& type, void* out, int64_t size, int64_t& position, Comm&);
Err unpack(const void* in, int64_t size, int64_t& position, void* out, int64_t count, Datatype& type, Comm&);
Err pack_size(int64_t count, Datatype& type, Comm&, int64_t& size);
Err pack_external(const char* format, const void* in, int64_t count, Datatype& type, void* out, int64_t size,
                  int64_t& position);
Err unpack_external(const char* format, const void* in, int64_t size, int64_t& position, void* out,
                    int64_t count, Datatype& type);
Err pack_external_size(const char* format, int64_t count, Datatype& type, int64_t& size);

// --- point-to-point (chapter 3); peers and tags are checked by the ABI binding
Err send(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm);
Err ssend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm);
Err isend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request);
Err issend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request);
Err recv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Status* status);
Err irecv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request);
Err bsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm);
Err ibsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request);
Err sendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
             int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Status* status);
Err sendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                     Comm& comm, Status* status);
Err isendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
              int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Request*& request);
Err isendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                      Comm& comm, Request*& request);
Err send_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
              Request*& request);
Err ssend_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request);
Err bsend_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request);
Err recv_init(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request);
Err start(Request*& request);
Err startall(int64_t n, Request** requests);
Err buffer_attach(void* memory, int64_t size); // may be automatic_buffer, which detach returns
Err buffer_detach(void*& memory, int64_t& size);
Err buffer_flush();
Err buffer_iflush(Request*& request);
Err comm_attach_buffer(Comm& comm, void* memory, int64_t size);
Err comm_detach_buffer(Comm& comm, void*& memory, int64_t& size);
Err comm_flush_buffer(Comm& comm);
Err comm_iflush_buffer(Comm& comm, Request*& request);
Err session_attach_buffer(Session& session, void* memory, int64_t size);
Err session_detach_buffer(Session& session, void*& memory, int64_t& size);
Err session_flush_buffer(Session& session);
Err session_iflush_buffer(Session& session, Request*& request);
Err mprobe(int source, int tag, Comm& comm, Message*& message, Status* status);
Err improbe(int source, int tag, Comm& comm, bool& flag, Message*& message, Status* status);
Err mrecv(void* buf, int64_t count, Datatype& type, Message*& message, Status* status);
Err imrecv(void* buf, int64_t count, Datatype& type, Message*& message, Request*& request);
Err probe(int source, int tag, Comm& comm, Status* status);
Err iprobe(int source, int tag, Comm& comm, bool& flag, Status* status);
Err wait(Request*& request, Status* status);
Err test(Request*& request, bool& flag, Status* status);
Err waitall(int64_t n, Request** requests, Status* statuses);
Err testall(int64_t n, Request** requests, bool& flag, Status* statuses);
Err waitany(int64_t n, Request** requests, int& index, Status* status); // index undefined: none active
Err testany(int64_t n, Request** requests, int& index, bool& flag, Status* status);
Err waitsome(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses);
Err testsome(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses);
Err request_free(Request*& request);
Err request_get_status(Request* request, bool& flag, Status* status);
Err request_get_status_all(int64_t n, Request** requests, bool& flag, Status* statuses);
Err request_get_status_any(int64_t n, Request** requests, int& index, bool& flag, Status* status);
Err request_get_status_some(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses);
Err cancel(Request& request);

// --- partitioned communication (chapter 4)
Err psend_init(const void* buf, int partitions, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Info* info, Request*& request);
Err precv_init(void* buf, int partitions, int64_t count, Datatype& type, int source, int tag, Comm& comm,
               Info* info, Request*& request);
Err pready(int partition, Request& request);
Err pready_range(int low, int high, Request& request); // both inclusive
Err pready_list(int n, const int* partitions, Request& request);
Err parrived(Request* request, int partition, bool& flag);

// --- topologies (chapter 8)
Err topo_test(Comm& comm, TopologyKind& kind);
Err dims_create(int nnodes, int ndims, int* dims);
Err cart_create(Comm& comm, int ndims, const int* dims, const int* periods, bool reorder, Comm*& result);
Err cart_map(Comm& comm, int ndims, const int* dims, const int* periods, int& new_rank);
Err cartdim_get(Comm& comm, int& ndims);
Err cart_get(Comm& comm, int maxdims, int* dims, int* periods, int* coords);
Err cart_rank(Comm& comm, const int* coords, int& rank);
Err cart_coords(Comm& comm, int rank, int maxdims, int* coords);
Err cart_shift(Comm& comm, int direction, int disp, int& source, int& destination);
Err cart_sub(Comm& comm, const int* remain, Comm*& result);
Err graph_create(Comm& comm, int nnodes, const int* index, const int* edges, bool reorder, Comm*& result);
Err graph_map(Comm& comm, int nnodes, const int* index, const int* edges, int& new_rank);
Err graphdims_get(Comm& comm, int& nnodes, int& nedges);
Err graph_get(Comm& comm, int maxindex, int maxedges, int* index, int* edges);
Err graph_neighbors_count(Comm& comm, int rank, int& count);
Err graph_neighbors(Comm& comm, int rank, int max, int* neighbors);
// weights may be unweighted or weights_empty
Err dist_graph_create(Comm& comm, int64_t n, const int* sources, const int* degrees, const int* destinations,
                      const int* weights, Info* info, bool reorder, Comm*& result);
Err dist_graph_create_adjacent(Comm& comm, int indegree, const int* sources, const int* source_weights,
                               int outdegree, const int* destinations, const int* destination_weights,
                               Info* info, bool reorder, Comm*& result);
Err dist_graph_neighbors_count(Comm& comm, int& indegree, int& outdegree, bool& weighted);
Err dist_graph_neighbors(Comm& comm, int64_t max_in, int* sources, int* source_weights, int64_t max_out,
                         int* destinations, int* destination_weights);

// --- collectives (chapter 6); IN_PLACE arrives as in_place. A datatype is null with in_place, and where it
// is not significant.
Err barrier(Comm& comm);
Err ibarrier(Comm& comm, Request*& request);
Err barrier_init(Comm& comm, Info* info, Request*& request);
Err bcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm);
Err ibcast(void* buf, int64_t count, Datatype& type, int root, Comm& comm, Request*& request);
Err bcast_init(void* buf, int64_t count, Datatype& type, int root, Comm& comm, Info* info, Request*& request);
Err gather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
           int root, Comm& comm);
Err igather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm, Request*& request);
Err gather_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                Datatype* rtype, int root, Comm& comm, Info* info, Request*& request);
Err gatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
            CountArray displs, Datatype* rtype, int root, Comm& comm);
Err igatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
             CountArray displs, Datatype* rtype, int root, Comm& comm, Request*& request);
Err gatherv_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                 CountArray displs, Datatype* rtype, int root, Comm& comm, Info* info, Request*& request);
Err scatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
            int root, Comm& comm);
Err iscatter(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype* rtype,
             int root, Comm& comm, Request*& request);
Err scatter_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                 Datatype* rtype, int root, Comm& comm, Info* info, Request*& request);
Err scatterv(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
             int64_t rcount, Datatype* rtype, int root, Comm& comm);
Err iscatterv(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
              int64_t rcount, Datatype* rtype, int root, Comm& comm, Request*& request);
Err scatterv_init(const void* sbuf, CountArray scounts, CountArray displs, Datatype* stype, void* rbuf,
                  int64_t rcount, Datatype* rtype, int root, Comm& comm, Info* info, Request*& request);
Err allgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm);
Err iallgather(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
               Comm& comm, Request*& request);
Err allgather_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                   Datatype& rtype, Comm& comm, Info* info, Request*& request);
Err allgatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
               CountArray displs, Datatype& rtype, Comm& comm);
Err iallgatherv(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                CountArray displs, Datatype& rtype, Comm& comm, Request*& request);
Err allgatherv_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, CountArray rcounts,
                    CountArray displs, Datatype& rtype, Comm& comm, Info* info, Request*& request);
Err alltoall(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
             Comm& comm);
Err ialltoall(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount, Datatype& rtype,
              Comm& comm, Request*& request);
Err alltoall_init(const void* sbuf, int64_t scount, Datatype* stype, void* rbuf, int64_t rcount,
                  Datatype& rtype, Comm& comm, Info* info, Request*& request);
Err alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
              CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm);
Err ialltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
               CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm, Request*& request);
Err alltoallv_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype* stype, void* rbuf,
                   CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm, Info* info,
                   Request*& request);
Err alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
              CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm);
Err ialltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
               CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm, Request*& request);
Err alltoallw_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes, void* rbuf,
                   CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm, Info* info,
                   Request*& request);
Err reduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm);
Err ireduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm,
            Request*& request);
Err reduce_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, int root, Comm& comm,
                Info* info, Request*& request);
Err allreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm);
Err iallreduce(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
               Request*& request);
Err allreduce_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
                   Info* info, Request*& request);
Err reduce_scatter(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm);
Err ireduce_scatter(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm,
                    Request*& request);
Err reduce_scatter_init(const void* sbuf, void* rbuf, CountArray rcounts, Datatype& type, Op& op, Comm& comm,
                        Info* info, Request*& request);
Err reduce_scatter_block(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op, Comm& comm);
Err ireduce_scatter_block(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op, Comm& comm,
                          Request*& request);
Err reduce_scatter_block_init(const void* sbuf, void* rbuf, int64_t rcount, Datatype& type, Op& op,
                              Comm& comm, Info* info, Request*& request);
Err scan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm);
Err iscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Request*& request);
Err scan_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info* info,
              Request*& request);
Err exscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm);
Err iexscan(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm,
            Request*& request);
Err exscan_init(const void* sbuf, void* rbuf, int64_t count, Datatype& type, Op& op, Comm& comm, Info* info,
                Request*& request);
// A user operation: the ABI's function, and the binding function that calls it on elements in the type's
// layout.
using UserReduction = void (*)(void* user_function, const void* in, void* inout, int64_t count,
                               Datatype& type);
Err op_create(void* user_function, UserReduction call, bool commutes, Op*& op);
Err op_free(Op*& op);
Err op_commutative(Op& op, bool& commutes);
Err reduce_local(const void* in, void* inout, int64_t count, Datatype& type, Op& op);

// --- neighborhood collectives (chapter 8)
Err neighbor_allgather(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                       Datatype& rtype, Comm& comm);
Err ineighbor_allgather(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                        Datatype& rtype, Comm& comm, Request*& request);
Err neighbor_allgather_init(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                            Datatype& rtype, Comm& comm, Info* info, Request*& request);
Err neighbor_allgatherv(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, CountArray rcounts,
                        CountArray displs, Datatype& rtype, Comm& comm);
Err ineighbor_allgatherv(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, CountArray rcounts,
                         CountArray displs, Datatype& rtype, Comm& comm, Request*& request);
Err neighbor_allgatherv_init(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf,
                             CountArray rcounts, CountArray displs, Datatype& rtype, Comm& comm, Info* info,
                             Request*& request);
Err neighbor_alltoall(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                      Datatype& rtype, Comm& comm);
Err ineighbor_alltoall(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                       Datatype& rtype, Comm& comm, Request*& request);
Err neighbor_alltoall_init(const void* sbuf, int64_t scount, Datatype& stype, void* rbuf, int64_t rcount,
                           Datatype& rtype, Comm& comm, Info* info, Request*& request);
Err neighbor_alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype& stype, void* rbuf,
                       CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm);
Err ineighbor_alltoallv(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype& stype, void* rbuf,
                        CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm,
                        Request*& request);
Err neighbor_alltoallv_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype& stype,
                            void* rbuf, CountArray rcounts, CountArray rdispls, Datatype& rtype, Comm& comm,
                            Info* info, Request*& request);
Err neighbor_alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
                       void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm);
Err ineighbor_alltoallw(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
                        void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm,
                        Request*& request);
Err neighbor_alltoallw_init(const void* sbuf, CountArray scounts, CountArray sdispls, Datatype** stypes,
                            void* rbuf, CountArray rcounts, CountArray rdispls, Datatype** rtypes, Comm& comm,
                            Info* info, Request*& request);

// --- one-sided communication (chapter 12). A target may be proc_null. With NO_OP the origin arguments are
// ignored, and the origin datatype may be null.
Err win_create(void* base, int64_t size, int64_t unit, Info* info, Comm& comm, Win*& win);
Err win_allocate(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win);
Err win_allocate_shared(int64_t size, int64_t unit, Info* info, Comm& comm, void*& base, Win*& win);
Err win_create_dynamic(Info* info, Comm& comm, Win*& win);
Err win_attach(Win& win, void* base, int64_t size);
Err win_detach(Win& win, const void* base);
Err win_shared_query(Win& win, int rank, int64_t& size, int64_t& unit, void*& base);
Err win_free(Win*& win);
Err win_get_group(Win& win, Group*& group);
Err win_get_info(Win& win, Info*& info);
Err win_set_info(Win& win, Info* info);
WinFlavor flavor_of(const Win& win) noexcept;
void* win_attribute(Win& win, WinAttribute which) noexcept; // base, or the address of size or disp_unit
Err win_fence(int assertion, Win& win);
Err win_post(Group& group, int assertion, Win& win);
Err win_start(Group& group, int assertion, Win& win);
Err win_complete(Win& win);
Err win_wait(Win& win);
Err win_test(Win& win, bool& flag);
Err win_lock(LockType type, int rank, int assertion, Win& win);
Err win_lock_all(int assertion, Win& win);
Err win_unlock(int rank, Win& win);
Err win_unlock_all(Win& win);
Err win_flush(int rank, Win& win);
Err win_flush_all(Win& win);
Err win_flush_local(int rank, Win& win);
Err win_flush_local_all(Win& win);
Err win_sync(Win& win);
Err put(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win);
Err get(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
        Datatype& target_type, Win& win);
Err accumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
               int64_t target_count, Datatype& target_type, Op& op, Win& win);
Err get_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                   Datatype& result_type, int target, int64_t disp, int64_t target_count,
                   Datatype& target_type, Op& op, Win& win);
Err fetch_and_op(const void* origin, void* result, Datatype& type, int target, int64_t disp, Op& op,
                 Win& win);
Err compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type, int target,
                     int64_t disp, Win& win);
Err rput(const void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request);
Err rget(void* origin, int64_t count, Datatype& type, int target, int64_t disp, int64_t target_count,
         Datatype& target_type, Win& win, Request*& request);
Err raccumulate(const void* origin, int64_t count, Datatype& type, int target, int64_t disp,
                int64_t target_count, Datatype& target_type, Op& op, Win& win, Request*& request);
Err rget_accumulate(const void* origin, int64_t count, Datatype* type, void* result, int64_t result_count,
                    Datatype& result_type, int target, int64_t disp, int64_t target_count,
                    Datatype& target_type, Op& op, Win& win, Request*& request);

// --- the tool interface (chapter 15): codes here, calls in core/tool/tool.hpp
enum class ToolErr {
    success,
    cannot_init,
    not_accessible,
    not_initialized,
    not_supported,
    memory,
    invalid,
    invalid_index,
    invalid_item,
    invalid_session,
    invalid_handle,
    invalid_name,
    out_of_handles,
    out_of_sessions,
    cvar_set_not_now,
    cvar_set_never,
    pvar_no_write,
    pvar_no_startstop,
    pvar_no_atomic
};
enum class Verbosity { user, tuner, developer };
enum class Binding { none, comm };
enum class CvarScope { read_only, local, all_equal };
enum class PvarClass {
    state,
    level,
    size,
    percentage,
    high_water,
    low_water,
    counter,
    aggregate,
    timer,
    generic
};

} // namespace zipmpi::core
