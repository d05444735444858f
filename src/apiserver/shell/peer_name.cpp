// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/peer_name.hpp"

#include <string>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::string entry_text(X509_NAME* name, int index) {
  const ASN1_STRING* data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index));
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(data)),
                     static_cast<std::size_t>(ASN1_STRING_length(data)));
}

}  // namespace

Caller named_by(X509* certificate) {
  Caller caller{.user = {}, .groups = {}};
  X509_NAME* name = X509_get_subject_name(certificate);
  const int user = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (user >= 0) caller.user = entry_text(name, user);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;)
    caller.groups.push_back(entry_text(name, at));
  caller.groups.emplace_back("system:authenticated");
  return caller;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
