// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The processes of other jobs that this process communicates with, and the keys that authenticate them.
#pragma once

#include "transport/interjob/contact_info.hpp"
#include "transport/transport.hpp"

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace zipmpi::interjob {

using transport::Peer;

struct ExternalPeer {
    ContactInfo contact;
    std::string key;
    uint64_t connection = 0;                         // for messages to it; 0: none
    uint32_t references = 0;                         // of communicators
    std::unordered_map<uint32_t, uint32_t> contexts; // of these communicators, with their references
    bool failed = false;
    bool left = false; // has sent a bye: connections to it may end in any way
};

// Peers are numbered in the order in which they are added.
class ExternalPeers {
  public:
    static constexpr int none = -1;

    // Whether a communicator of this process has the context.
    using ContextCheck = bool (*)(uint32_t context);

    ExternalPeers(Peer first_peer, ContextCheck is_context_in_use)
        : first_peer_(first_peer)
        , is_context_in_use_(is_context_in_use) {}

    // Adds a process, or updates the contact information and key of one that has just communicated. Returns
    // its number.
    int add(const ContactInfo& contact, const std::string& key);
    [[nodiscard]] int count() const { return static_cast<int>(peers_.size()); }
    [[nodiscard]] ExternalPeer& at(int external) { return peers_[static_cast<size_t>(external)]; }
    [[nodiscard]] const ExternalPeer& at(int external) const { return peers_[static_cast<size_t>(external)]; }
    [[nodiscard]] int find(const ProcessName& name) const; // or none
    // The key of this id; null: not known yet.
    [[nodiscard]] const std::string* find_key(uint64_t id) const;

    // Counts the communicators that a process shares with this one. Return true for the first and for the
    // last.
    bool add_reference(int external, uint32_t context);
    bool remove_reference(int external, uint32_t context);
    // Whether the process may send messages in the context: that of a shared communicator, or one that may be
    // in creation here and already be complete there.
    [[nodiscard]] bool may_use(int external, uint32_t context) const;

    // Index of a peer in the interface of the network.
    [[nodiscard]] Peer peer_of(int external) const { return first_peer_ + static_cast<Peer>(external); }
    [[nodiscard]] bool is_external_peer(Peer peer) const { return peer >= first_peer_; }
    [[nodiscard]] int external_of(Peer peer) const { return static_cast<int>(peer - first_peer_); }

    // Failures wait here until no caller uses a connection of the peer.
    void add_failure(int external) { failures_.push_back(external); }
    [[nodiscard]] int take_failure(); // or none

  private:
    Peer first_peer_;
    ContextCheck is_context_in_use_;
    std::deque<ExternalPeer> peers_;
    std::map<ProcessName, int> by_name_;
    std::unordered_map<uint64_t, std::string> keys_; // by id
    std::vector<int> failures_;
};

} // namespace zipmpi::interjob
