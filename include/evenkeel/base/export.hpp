// SPDX-License-Identifier: Apache-2.0
// EVENKEEL_API marks what a shared library exports; everything else is hidden.
#pragma once

#if defined(EVENKEEL_SHARED)
#define EVENKEEL_API __attribute__((visibility("default")))
#else
#define EVENKEEL_API
#endif
