// SPDX-License-Identifier: Apache-2.0
// Serves the resources of CRDs: they exist as soon as the CRD is stored, and are removed with it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <evenkeel/base/time.hpp>

#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Storage;
class WatchHub;

class CrdController {
 public:
  void observe(Store& store, const Change& change);
  /// Serves the resources of CRDs written since the last call. Called after every request, so that a CRD's
  /// paths exist when the response to its creation is sent.
  void settle(Storage& storage, WatchHub& watches, WallTime now);
  bool has_work() const { return !going_.empty(); }
  /// Deletes the objects of CRDs that are being deleted, and then the CRDs.
  void run(Storage& storage, WallTime now);

 private:
  void establish(Storage& storage, WatchHub& watches, const std::string& name, WallTime now);
  void withdraw(Storage& storage, WatchHub& watches, const std::string& name);
  void clean_up(Storage& storage, const std::string& name, WallTime now);

  /// Serves the resources of the definition; their watches end only if the definition changed.
  void serve(Storage& storage, WatchHub& watches, const std::string& name, const Json& definition);

  std::map<std::string, std::shared_ptr<const Json>> serving_;  // spec and accepted names, by definition
  std::set<std::string> written_;
  std::set<std::string> terminating_;
  std::set<std::string> going_;  // those of them to process
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
