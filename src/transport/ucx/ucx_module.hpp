// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of the module zipmpi_ucx.so, which holds all code that uses UCX or OpenSSL. Opening UCX takes
// milliseconds and megabytes, so only processes of multi-host jobs load it. All functions return null on
// failure, with the reason in why.
#pragma once

#include "transport/auth/aead.hpp"
#include "transport/auth/key.hpp"
#include "transport/frame_network.hpp"
#include "transport/rdma_device.hpp"

namespace zipmpi::transport::ucx {

// Entry points of the module; their names change with the interfaces.
using OpenForFrames = FrameNetwork* (*)(const NetworkConfig& settings, const FrameConfig& frames,
                                        std::string& why);
using OpenAead = auth::Aead* (*)(auth::Key key);
using OpenRdmaDevice = RdmaDevice* (*)(const char* devices, std::string& why);
inline constexpr const char* open_for_frames_symbol = "zipmpi_ucx_open_for_frames_4";
inline constexpr const char* open_aead_symbol = "zipmpi_ucx_open_sealer_3";
inline constexpr const char* open_rdma_device_symbol = "zipmpi_ucx_open_direct_3";
inline constexpr const char* module_file = "zipmpi_ucx.so";

// Load the module and call it.
FrameNetwork* open_for_frames(const NetworkConfig& settings, const FrameConfig& frames, std::string& why);
auth::Aead* open_aead(auth::Key key, std::string& why);
RdmaDevice* open_rdma_device(const char* devices, std::string& why, const std::string& module = {});

} // namespace zipmpi::transport::ucx
