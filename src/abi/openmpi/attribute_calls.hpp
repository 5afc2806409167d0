// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the user's attribute callbacks: as in the standard ABI.
#pragma once

#include "abi/standard/attribute_calls.hpp"
