// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/apiserver/access_recording.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

std::function<void(const ServedRequest&)> record_accesses(std::shared_ptr<AccessRecorder> recorder,
                                                          std::string user) {
  return [recorder = std::move(recorder), user = std::move(user)](const ServedRequest& served) {
    if (user.empty() || served.user == user)
      recorder->add({.method = served.method, .target = served.target}, served.status);
  };
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
