// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the message queues of a process are, for debuggers: addresses in its memory, and offsets of members.
// The library has one such table, the symbol zipmpi_message_queues (abi/debugger_symbols.cpp);
// tools/msgq, which a debugger loads, reads it while the process is stopped.
#pragma once

#include <cstdint>

namespace zipmpi::wire {

inline constexpr char queue_layout_version[16] = "zipmpi queues 2";

// Of the symbol MPIR_dll_name, which names the library that reads the queues.
inline constexpr unsigned queue_reader_path_bytes = 4096;

struct QueueLayout {
    char version[16];
    // Addresses; all 0 before MPI is initialized.
    uint64_t exact;      // begin and end of an array of pointers to posted receives, without chains
    uint64_t posted;     // as before, with chains
    uint64_t unexpected; // pointer to the first unexpected message
    uint64_t in_flight;  // begin and end of an array of slots that begin with a pointer to an operation
    uint64_t comms;      // begin and end of an array of pointers to chunks of communicators
    struct {             // sends and receives
        uint32_t bytes;  // size of one
        uint32_t next, chain,
            order;     // of a posted receive: links, position among all (several may have the same)
        uint32_t kind; // one byte
        uint32_t context, source, tag, peer, world_peer;
        uint32_t buffer, length;
        uint32_t matched_source, matched_tag;
    } operation;
    struct {
        uint32_t bytes;
        uint32_t next;
        uint32_t context, source, tag;
        uint32_t length, data;
    } message;
    struct {
        uint32_t bytes;
        uint32_t kind, context;
        uint32_t rank, size;
        uint32_t first, stride,
            table;     // RankMap: table points to begin and end of an array of ranks, or is null
        uint32_t name; // pointer to its characters
    } comm;
    uint32_t comms_per_chunk;
    uint32_t comm_kind; // value of comm.kind of a communicator in use
    uint32_t slot_bytes;
    uint8_t send_kind; // values of operation.kind
    uint8_t recv_kind;
    uint8_t reserved[2];
};

inline constexpr int32_t queue_any_source = -1;
inline constexpr int32_t queue_any_tag = -2;

} // namespace zipmpi::wire
