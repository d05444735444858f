// SPDX-License-Identifier: Apache-2.0
// A watch that survives disconnects, without cache, queue or controller: prints the changes of the ConfigMaps
// in a namespace. Needs evenkeel::client only.
//   watch-configmaps [NAMESPACE [EVENTS]]    exits after this many events; the cluster is that of kubectl
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/watch.hpp>

namespace ek = evenkeel;

const char* word(ek::WatchEventType type) {
  switch (type) {
    case ek::WatchEventType::added:
      return "added";
    case ek::WatchEventType::modified:
      return "modified";
    case ek::WatchEventType::deleted:
      return "deleted";
    default:
      return "";
  }
}

int main(int argc, char** argv) try {
  const std::string place = argc > 1 ? argv[1] : "default";
  const long events = argc > 2 ? std::strtol(argv[2], nullptr, 10) : -1;
  const ek::Client client(ek::load_config());
  ek::Watch<ek::ConfigMap> watch(client, {.namespace_ = place});
  for (long seen = 0; seen != events;) {
    const auto event = watch.next({});
    if (event->type == ek::WatchEventType::gone) {
      watch.restart("");  // start again with the existing objects
    } else if (event->object) {
      std::printf("%s %s\n", word(event->type), ek::key_of(*event->object).str().c_str());
      std::fflush(stdout);
      ++seen;
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "watch: %s\n", error.what());
  return 1;
}
