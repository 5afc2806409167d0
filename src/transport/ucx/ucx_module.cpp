// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ucx_module.hpp"

#include "os/module_folder.hpp"
#include "os/scoped_env.hpp"
#include "transport/engine_module.hpp"

namespace zipmpi::transport::ucx {
namespace {

// In effect while UCX is loaded, which is when it reads them: its warnings about variables and signals are
// not for users of an MPI program.
constexpr os::EnvSetting quiet_settings[] = {
    {"UCX_WARN_UNUSED_ENV_VARS", "n"}, {"UCX_HANDLE_ERRORS", "none"}, {"UCX_LOG_LEVEL", "fatal"}};

// Returns null on failure, with the reason in why.
void* load_module_symbol(const char* symbol, std::string& why, const std::string& other = {}) {
    const os::ScopedEnv quiet(quiet_settings);
    return load_engine_symbol(other.empty() ? os::module_path(module_file) : other, symbol, why);
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
    const os::ScopedEnv quiet(quiet_settings); // UCX reads its settings when a device is opened
    void* function = load_module_symbol(open_rdma_device_symbol, why, module);
    return function != nullptr ? reinterpret_cast<OpenRdmaDevice>(function)(devices, why) : nullptr;
}

} // namespace zipmpi::transport::ucx
