// SPDX-License-Identifier: Apache-2.0
// EVENKEEL_API marks the exported symbols of a shared library; all others are hidden.
#pragma once

#if defined(EVENKEEL_SHARED)
#define EVENKEEL_API __attribute__((visibility("default")))
#else
#define EVENKEEL_API
#endif
