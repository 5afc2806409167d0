// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi info`: what this installation is and would do here. Each part gathers its facts once as JSON and
// renders them as text from there, so that both outputs tell the same.
#pragma once

#include "json.hpp"

#include <string>

namespace zipmpi::tool {

Json installation_facts(); // version, build, host
Json launch_facts(const char* const* environ_like);
Json transport_facts();
std::string overview_text(const Json& facts); // of an object with these, "paths", "knobs" and "coverage"

Json kernel_copy_facts(); // two processes try
Json path_facts();        // which way messages go, by class of pair and size
std::string paths_text(const Json& facts);

Json network_facts(); // how ranks on other hosts are reached; in a job only
std::string network_text(const Json& facts);

Json link_facts(); // how ranks in other clusters are reached; in a job only
std::string links_text(const Json& facts);

Json knob_facts(); // after load_params()
std::string knobs_text(const Json& knobs);
std::string knobs_markdown(const Json& knobs); // docs/guide/knobs.md, independent of the environment

Json coverage_facts(); // functions of the standard by chapter
std::string coverage_text(const Json& coverage, bool list_missing);

} // namespace zipmpi::tool
