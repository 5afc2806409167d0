// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interjob/contact_check.hpp"

#include <set>

namespace zipmpi::interjob {

bool is_valid_remote_group(const OwnJob& job, std::span<const ContactInfo> own,
                           std::span<const ContactInfo> remote) {
    std::set<ProcessName> names;
    for (const ContactInfo& contact : own) names.insert(contact.name);
    for (const ContactInfo& contact : remote) {
        const ProcessName& name = contact.name;
        const int limit = name.job == job.number ? job.size : first_external;
        if (name.job == 0 || name.rank < 0 || name.rank >= limit || name.unused != 0 ||
            contact.address_count > ContactInfo::max_addresses || !names.insert(name).second)
            return false;
    }
    return !remote.empty();
}

} // namespace zipmpi::interjob
