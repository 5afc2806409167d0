// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/ofi_module.hpp"

#include "os/module_folder.hpp"
#include "transport/engine_module.hpp"

namespace zipmpi::transport::ofi {

FrameNetwork* open_for_frames(const NetworkConfig& settings, const FrameConfig& frames, const char* provider,
                              std::string& why) {
    void* const function = load_engine_symbol(os::module_path(module_file), open_for_frames_symbol, why);
    return function != nullptr ? reinterpret_cast<OpenForFrames>(function)(settings, frames, provider, why)
                               : nullptr;
}

bool drives(const std::string& devices, const char* provider) {
    std::string why;
    void* const function = load_engine_symbol(os::module_path(module_file), drives_symbol, why);
    return function != nullptr && reinterpret_cast<Drives>(function)(devices.c_str(), provider);
}

} // namespace zipmpi::transport::ofi
