// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ucx_module.hpp"

#include "os/module_folder.hpp"
#include "os/socket.hpp"

#include <cstdlib>

namespace zipmpi::transport::ucx {
namespace {

// UCX settings in effect while UCX is loaded, which is when it reads them, unless the user has set them: its
// warnings about variables and signals are not for users of an MPI program. Processes started later must not
// inherit them.
class ScopedUcxEnv {
  public:
    ScopedUcxEnv() {
        for (EnvOverride& s : overrides_)
            if (std::getenv(s.name) == nullptr) s.applied = setenv(s.name, s.value, 0) == 0;
    }
    ScopedUcxEnv(const ScopedUcxEnv&) = delete;
    ScopedUcxEnv& operator=(const ScopedUcxEnv&) = delete;
    ~ScopedUcxEnv() {
        for (const EnvOverride& s : overrides_)
            if (s.applied) unsetenv(s.name);
    }

  private:
    struct EnvOverride {
        const char* name;
        const char* value;
        bool applied = false;
    };
    EnvOverride overrides_[3] = {
        {"UCX_WARN_UNUSED_ENV_VARS", "n"}, {"UCX_HANDLE_ERRORS", "none"}, {"UCX_LOG_LEVEL", "fatal"}};
};

// Returns null on failure, with the reason in why.
void* load_module_symbol(const char* symbol, std::string& why, const std::string& other = {}) {
    const ScopedUcxEnv quiet;
    const std::string file = other.empty() ? os::module_path(module_file) : other;
    if (!os::port_range().empty())
        if (void* const set_ports = os::load_symbol(file, set_ports_symbol, why); set_ports != nullptr)
            reinterpret_cast<SetPorts>(set_ports)(os::port_range().c_str());
    return os::load_symbol(file, symbol, why);
}

} // namespace

FrameNetwork* open_for_frames(const NetworkConfig& settings, const FrameConfig& frames, std::string& why) {
    void* function = load_module_symbol(open_for_frames_symbol, why);
    return function != nullptr ? reinterpret_cast<OpenForFrames>(function)(settings, frames, why) : nullptr;
}

auth::Aead* open_aead(auth::Key key, std::string& why) {
    void* function = load_module_symbol(open_aead_symbol, why);
    return function != nullptr ? reinterpret_cast<OpenAead>(function)(key) : nullptr;
}

RdmaDevice* open_rdma_device(const char* devices, std::string& why, const std::string& module) {
    const ScopedUcxEnv quiet; // UCX reads its settings when a device is opened
    void* function = load_module_symbol(open_rdma_device_symbol, why, module);
    return function != nullptr ? reinterpret_cast<OpenRdmaDevice>(function)(devices, why) : nullptr;
}

} // namespace zipmpi::transport::ucx
