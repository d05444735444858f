// SPDX-License-Identifier: Apache-2.0
// 128-bit integers, for sums and products that must not overflow.
#pragma once

namespace evenkeel {
inline namespace v0 {

__extension__ using Wide = __int128;

}  // namespace v0
}  // namespace evenkeel
