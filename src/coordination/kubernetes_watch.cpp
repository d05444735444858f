// SPDX-License-Identifier: Apache-2.0
#include "coordination/kubernetes_watch.hpp"

#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/watch.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

KubernetesWatch::KubernetesWatch(Client client, std::string namespace_name, std::string selector,
                                 Duration retry, std::function<void()> hint)
    : client_(std::move(client)),
      namespace_(std::move(namespace_name)),
      selector_(std::move(selector)),
      retry_(retry),
      hint_(std::move(hint)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void KubernetesWatch::run(const std::stop_token& stop) const {
  const Clock& clock = *client_.clock();
  do {
    try {
      follow(stop);
    } catch (const Error& error) {
      client_.log().warn("the watch of the coordination store was refused", {{"error", error.what()}});
    }
  } while (sleep_until(clock, deadline_after(clock.now(), retry_), stop));
}

void KubernetesWatch::follow(const std::stop_token& stop) const {
  Watch<ConfigMap> watch(client_, {.namespace_ = namespace_, .label_selector = selector_});
  while (auto event = watch.next(stop)) {
    if (event->type == WatchEventType::gone) watch.restart({});
    hint_();
  }
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
