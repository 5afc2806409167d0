// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi info`: facts about this installation and its behavior on this host. Each section gathers its facts
// as JSON and renders the text from it, so that both outputs agree.
#pragma once

#include "json.hpp"

#include <string>

namespace zipmpi::tool {

Json installation_facts(); // version, build, host
Json launch_facts(const char* const* environ_like);
Json transport_facts();
std::string overview_text(const Json& facts); // of an object with these, "paths", "parameters" and "coverage"

Json cma_facts();  // tried by two processes
Json path_facts(); // paths of messages, by pair class and size
std::string paths_text(const Json& facts);

Json network_facts(); // connections to other hosts; in a job only
std::string network_text(const Json& facts);

Json link_facts(); // connections to other clusters; in a job only
std::string links_text(const Json& facts);

Json param_facts(); // after load_params()
std::string params_text(const Json& params);
std::string params_markdown(const Json& params); // docs/guide/parameters.md, independent of the environment

Json coverage_facts(); // functions of the standard by chapter
std::string coverage_text(const Json& coverage, bool list_missing);

} // namespace zipmpi::tool
