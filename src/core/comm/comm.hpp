// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/object.hpp"
#include "proto/team.hpp"

#include <memory>
#include <string>

namespace zipmpi::core {

struct Errhandler : Object {
    static constexpr Class class_id = Class::errhandler;
    enum class Kind { fatal, abort, give_back, user } kind = Kind::fatal;
    void* face_function = nullptr; // user: a function of the face's own type
};

class SendBuffer;

struct Comm : Object {
    static constexpr Class class_id = Class::comm;
    proto::Team team;
    std::unique_ptr<proto::Team> local; // of an intercommunicator; null for an intracommunicator
    std::string name;
    Errhandler* errhandler = nullptr;        // counted
    std::unique_ptr<SendBuffer> send_buffer; // attached for buffered sends
    Session* session = nullptr;              // that it comes from; null: none
    uint32_t partition_tags = 0;             // handed out to partitioned sends so far
    bool permanent = false;                  // MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed by the user

    [[nodiscard]] bool inter() const { return local != nullptr; }
};

struct Session : Object {
    static constexpr Class class_id = Class::session;
    Errhandler* errhandler = nullptr; // counted
    std::unique_ptr<SendBuffer> send_buffer;
};

// A handler is shared by what uses it; the last user destroys one that was made by the user.
Errhandler* share(Errhandler& handler);
void release(Errhandler*& handler);

// A communicator lives while its handle or a request on it does.
Comm* make_comm(const proto::Team& team, std::string name, Errhandler& handler);
void release(Comm& comm);

} // namespace zipmpi::core
