// SPDX-License-Identifier: Apache-2.0
// What CRDs bring about: their resources are served from the moment they are stored, and go with them.
#pragma once

#include <map>
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
  void observe(const ChangePtr& change);
  /// Serves what CRDs that were written since describe. Called after every request, so that a CRD's paths
  /// exist when its creation is answered.
  void settle(Storage& storage, WatchHub& watches, WallTime now);
  bool has_work() const { return !going_.empty(); }
  /// Deletes the objects of CRDs that go, and those that have none left.
  void run(Storage& storage, WallTime now);

 private:
  void establish(Storage& storage, WatchHub& watches, const std::string& name, WallTime now);
  void withdraw(Storage& storage, WatchHub& watches, const std::string& name);
  void clean_up(Storage& storage, const std::string& name, WallTime now);

  /// Serves what the definition says; watches end only if it is something new.
  void serve(Storage& storage, WatchHub& watches, const std::string& name, const Json& definition);

  std::map<std::string, Json> serving_;  // spec and accepted names, by definition
  std::set<std::string> written_;
  std::set<std::string> terminating_;
  std::set<std::string> going_;  // of them, those to look at
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
