// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls on info objects (MPI chapter 10).
#pragma once

#include "core/api/common.hpp"

#include <string>

namespace zipmpi::core {

Err info_create(Info*& info);
Err info_create_env(int argc, char** argv, Info*& info);
Err info_dup(Info& info, Info*& copy);
Err info_free(Info*& info);
Err info_set(Info& info, const char* key, const char* value);
Err info_delete(Info& info, const char* key);
Err info_find(Info& info, const char* key, const std::string*& value); // null: no such key
Err info_get_nkeys(Info& info, int& count);
Err info_get_nthkey(Info& info, int n, std::string& key);

} // namespace zipmpi::core
