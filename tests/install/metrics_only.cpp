// SPDX-License-Identifier: Apache-2.0
// Somebody who wants the queue and its metrics.
#include <cstdio>
#include <string>

#include <evenkeel/metrics/text.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

int main() {
  evenkeel::WorkQueue<std::string> queue({.name = "apps"});
  queue.add("default/app");
  evenkeel::PrometheusText text;
  queue.collect(text);
  std::fputs(text.str().c_str(), stdout);
}
