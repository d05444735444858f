// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/cache/informer.hpp>

namespace evenkeel {
inline namespace v0 {

bool KeptParts::serve(const KeptParts& wanted) const noexcept {
  if (wanted.form == WireForm::metadata_only) return true;
  if (form == WireForm::metadata_only) return false;
  if (form != WireForm::projected) return true;
  return wanted.form == WireForm::projected && projection.covers(wanted.projection);
}

KeptParts KeptParts::with(const KeptParts& other) const {
  if (serve(other)) return *this;
  if (other.serve(*this)) return other;
  return {.form = WireForm::projected, .projection = projection.with(other.projection)};
}

}  // namespace v0
}  // namespace evenkeel
