// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/module_folder.hpp"
#include "transport/ucx/direct.hpp"
#include "transport/ucx/frame_network.hpp"
#include "transport/ucx/sealer.hpp"

#include <cstdlib>
#include <dlfcn.h>

namespace zipmpi::transport::ucx {
namespace {

// Settings of UCX that hold while it is loaded, when it reads them, unless the user has made them: what it
// has to say about variables and signals is not for the user of an MPI program. What this rank starts later
// must not inherit them.
class Quiet {
  public:
    Quiet() {
        for (Setting& s : settings_)
            if (std::getenv(s.name) == nullptr) s.made = setenv(s.name, s.value, 0) == 0;
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    ~Quiet() {
        for (const Setting& s : settings_)
            if (s.made) unsetenv(s.name);
    }

  private:
    struct Setting {
        const char* name;
        const char* value;
        bool made = false;
    };
    Setting settings_[3] = {
        {"UCX_WARN_UNUSED_ENV_VARS", "n"}, {"UCX_HANDLE_ERRORS", "none"}, {"UCX_LOG_LEVEL", "fatal"}};
};

// Null: why says so in words.
void* function_of_module(const char* symbol, std::string& why, const std::string& other = {}) {
    const Quiet quiet;
    const std::string file = other.empty() ? boot::module_path(module_file) : other;
    void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* function = module != nullptr ? dlsym(module, symbol) : nullptr;
    if (function == nullptr) {
        const char* text = dlerror();
        why = text != nullptr ? text : file + " has no entry " + symbol;
    }
    return function;
}

} // namespace

Network* open(const Settings& settings, std::string& why) {
    void* function = function_of_module(open_symbol, why);
    return function != nullptr ? reinterpret_cast<Open>(function)(settings, why) : nullptr;
}

FrameNetwork* open_for_frames(const Settings& settings, const FrameSettings& frames, std::string& why) {
    void* function = function_of_module(open_for_frames_symbol, why);
    return function != nullptr ? reinterpret_cast<OpenForFrames>(function)(settings, frames, why) : nullptr;
}

Probe* open_probe(int world_rank, std::span<const uint8_t, wire::job_key_bytes> key, std::string& why) {
    void* function = function_of_module(open_probe_symbol, why);
    return function != nullptr ? reinterpret_cast<OpenProbe>(function)(world_rank, key) : nullptr;
}

Sealer* open_sealer(std::span<const uint8_t, wire::job_key_bytes> key, std::string& why) {
    void* function = function_of_module(open_sealer_symbol, why);
    return function != nullptr ? reinterpret_cast<OpenSealer>(function)(key) : nullptr;
}

Direct* open_direct(const char* devices, std::string& why, const std::string& module) {
    const Quiet quiet; // its settings are read while a device is opened
    void* function = function_of_module(open_direct_symbol, why, module);
    return function != nullptr ? reinterpret_cast<OpenDirect>(function)(devices, why) : nullptr;
}

} // namespace zipmpi::transport::ucx
