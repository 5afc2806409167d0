// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the user's attribute callbacks and error handlers: as in the standard ABI.
#pragma once

#include "abi/standard/callback_calls.hpp"
