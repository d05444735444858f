// SPDX-License-Identifier: Apache-2.0
// Decisions about an authority and a serving certificate that several replicas share.
// Shared with floors above.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/webhook/certificate_options.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Certificates begin this long before they are made, for clocks that are behind.
inline constexpr Duration certificate_backdate = std::chrono::minutes{5};

struct Lifetime {
  WallTime begin = {};  ///< Includes the backdate.
  WallTime end = {};
};

/// The shared certificates, as found.
struct CertificateState {
  struct Serving {
    Lifetime lifetime = {};
    bool names_match = false;                ///< It has all names that are wanted.
    std::optional<std::size_t> signer = {};  ///< Index of the authority that signed it.
  };
  std::vector<Lifetime> authorities = {};  ///< The newest first; only it signs.
  bool can_sign = false;                   ///< Its key is there, and its certificates are accepted.
  std::optional<Serving> serving = {};     ///< Absent if it or its key cannot be used.
};

/// Changes, to be made in the order of the members.
struct CertificatePlan {
  std::vector<std::size_t> drop = {};  ///< Authorities that nobody needs any more, by ascending index.
  bool make_authority = false;         ///< Makes one and puts it before the others.
  bool issue = false;                  ///< Makes a serving certificate, signed by the newest authority.

  bool empty() const { return drop.empty() && !make_authority && !issue; }
};

/// Decides what to change. A new authority is trusted before it signs: it joins the bundle, and after
/// `settle`, when every replica has injected it, it signs the next serving certificate. An old authority
/// stays in the bundle until every certificate that it can have signed has ended, so that no replica, however
/// late, serves one that is not trusted. Only a missing, ended or ending serving certificate is not delayed.
///
/// Clocks may differ. A certificate that begins in the future by the clock of this replica is accepted by
/// nobody whose clock agrees: such an authority does not sign and is replaced at once, as is a serving
/// certificate of it. It stays in the bundle like any old one, for replicas that serve below it because it is
/// this clock that is behind.
///
/// Driver:
///  1. reads the Secret and the time, and calls plan_certificates();
///  2. carries out the plan and writes the Secret in one piece, for the version that was read; if another
///     replica wrote in between, begins again;
///  3. serves with the certificate of the Secret, and injects all its authorities;
///  4. does so at least every CertificateOptions::check_period.
EVENKEEL_API CertificatePlan plan_certificates(const CertificateState& state,
                                               const CertificateOptions& options, WallTime now);

/// Throws std::invalid_argument for durations that contradict each other.
EVENKEEL_API void check_certificate_options(const CertificateOptions& options);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
