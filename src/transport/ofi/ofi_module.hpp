// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The entry points of the module zipmpi_ofi.so, which alone uses libfabric: its fi_getinfo() takes a third of
// a second, so only processes that use this engine, or may do so, load it.
#pragma once

#include "transport/frame_network.hpp"

namespace zipmpi::transport::ofi {

// The names change with the interfaces.
using OpenForFrames = FrameNetwork* (*)(const NetworkConfig& settings, const FrameConfig& frames,
                                        const char* provider, std::string& why);
inline constexpr const char* open_for_frames_symbol = "zipmpi_ofi_open_for_frames_1";
using Drives = bool (*)(const char* devices, const char* provider);
inline constexpr const char* drives_symbol = "zipmpi_ofi_drives_1";
inline constexpr const char* module_file = "zipmpi_ofi.so";

// Loads the module and calls it. provider: of libfabric; empty: by the devices. Returns null on failure, with
// the reason in why.
FrameNetwork* open_for_frames(const NetworkConfig& settings, const FrameConfig& frames, const char* provider,
                              std::string& why);

// Whether the module and libfabric are installed, and a provider drives one of the devices.
bool drives(const std::string& devices, const char* provider);

} // namespace zipmpi::transport::ofi
