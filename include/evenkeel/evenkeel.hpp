// SPDX-License-Identifier: Apache-2.0
// Everything that an operator's program needs, in one include.
#pragma once
