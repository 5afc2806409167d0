// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The processes of other jobs that this process communicates with, and the keys that authenticate them.
#pragma once

#include "transport/stream/peer_set.hpp"

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace zipmpi::interjob {

using transport::Peer;
using transport::stream::ContactInfo;
using transport::stream::Hello;
using transport::stream::ProcessName;
using wire::first_external;
using wire::is_external;

struct ExternalPeer {
    ContactInfo contact;
    std::string key;
    uint32_t references = 0;                         // of communicators
    std::unordered_map<uint32_t, uint32_t> contexts; // of these communicators, with their references
};

class ExternalPeers final : public transport::stream::PeerSet {
  public:
    // Whether a communicator of this process has the context.
    using ContextCheck = bool (*)(uint32_t context);

    ExternalPeers(const ProcessName& own, Peer first_peer, ContextCheck is_context_in_use)
        : PeerSet(first_peer)
        , own_(own)
        , is_context_in_use_(is_context_in_use) {}

    // Adds a process, or updates the contact information and key of one that has just communicated. Returns
    // its number.
    int add(const ContactInfo& contact, const std::string& key);
    [[nodiscard]] uint32_t references_of(int external) const { return at(external).references; }

    [[nodiscard]] const ContactInfo& contact_of(int external) const override { return at(external).contact; }
    [[nodiscard]] ProcessName own_name(int) const override { return own_; }
    [[nodiscard]] std::string_view key_of(int external) const override { return at(external).key; }
    [[nodiscard]] std::string_view find_key(const Hello& hello) const override;
    [[nodiscard]] int find(const ProcessName& name) override;
    // One that was already treated as failed is rejected, so that it notices.
    [[nodiscard]] bool admit(int external, const Hello&) override { return !link(external).failed; }
    [[nodiscard]] bool may_send(int external, const wire::Envelope& envelope,
                                const std::byte* payload) const override;
    [[nodiscard]] bool detects_failure_of(int) const override { return true; }
    [[nodiscard]] bool reports_failure_of(int external) const override { return at(external).references > 0; }
    void connected(int) override {}

    // Counts the communicators that a process shares with this one. Return true for the first and for the
    // last.
    bool add_reference(int external, uint32_t context);
    bool remove_reference(int external, uint32_t context);

  private:
    [[nodiscard]] ExternalPeer& at(int external) { return peers_[static_cast<size_t>(external)]; }
    [[nodiscard]] const ExternalPeer& at(int external) const { return peers_[static_cast<size_t>(external)]; }
    // Whether the process may send messages in the context: that of a shared communicator, or one that may be
    // in creation here and already be complete there.
    [[nodiscard]] bool may_use(int external, uint32_t context) const;

    ProcessName own_;
    ContextCheck is_context_in_use_;
    std::deque<ExternalPeer> peers_;
    std::map<ProcessName, int> by_name_;
    std::unordered_map<uint64_t, std::string> keys_; // by id
};

} // namespace zipmpi::interjob
