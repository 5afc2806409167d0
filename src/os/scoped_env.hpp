// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of another library, in effect while that library reads them. Processes started later must not
// inherit them, and values that the user has set are kept.
#pragma once

#include <cstdlib>
#include <span>
#include <vector>

namespace zipmpi::os {

struct EnvSetting {
    const char* name;
    const char* value;
};

class ScopedEnv {
  public:
    explicit ScopedEnv(std::span<const EnvSetting> settings) {
        for (const EnvSetting& s : settings)
            if (std::getenv(s.name) == nullptr && setenv(s.name, s.value, 0) == 0) applied_.push_back(s.name);
    }
    ScopedEnv(const ScopedEnv&) = delete;
    ScopedEnv& operator=(const ScopedEnv&) = delete;
    ~ScopedEnv() {
        for (const char* const name : applied_) unsetenv(name);
    }

  private:
    std::vector<const char*> applied_;
};

} // namespace zipmpi::os
