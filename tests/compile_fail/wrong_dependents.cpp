// SPDX-License-Identifier: Apache-2.0
// Declarations of dependents that cannot be right; the first error names the right form.
// first 1: an owner with a namespace cannot own what is cluster-scoped
// first 2: a dependent is made by a function of .const T&. or .Context&, const T&.
// first 3: dependents are made by a function of .const T&. or .Context&, const T&.
// first 4: a function of dependents takes .const T&. or .Context&, const T&.
// first 5: a function of dependents returns a wrong type
// first 6: a function of dependents returns a wrong type
#include <string>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/dependents.hpp>

namespace ek = evenkeel;
using ek::ConfigMap, ek::Namespace, ek::Secret;

std::vector<ek::ControllerSpec> right() {
  const auto graph =
      ek::dependents<Secret>()
          .add<ConfigMap>("one", [](const Secret&) { return ConfigMap(); },
                          {.when = [](ek::Context&, const Secret&) { return true; },
                           .ready = [](const ConfigMap&) { return true; },
                           .gone = [](const Secret&) { return ek::not_ready("why"); }})
          .add_each<ConfigMap>("many", [](ek::Context&, const Secret&) { return std::vector<ConfigMap>(); },
                               {.after = {"one"}});
  return {ek::controller_for(graph), ek::controller_for<Secret>(graph),
          ek::controller_for(graph, {.when = ek::generation_changed()}),
          ek::controller_for(graph, [graph](ek::Context& context, const Secret& secret) {
            return graph.reconcile(context, secret).result();
          })};
}

#ifdef REJECTED
void wrong() {
  const auto one = [](const Secret&) { return ConfigMap(); };
  static_cast<void>(one);
#if REJECTED == 1
  ek::dependents<Secret>().add<Namespace>("a", [](const Secret&) { return Namespace(); });
#elif REJECTED == 2
  ek::dependents<Secret>().add<ConfigMap>("a", [] { return ConfigMap(); });
#elif REJECTED == 3
  ek::dependents<Secret>().add_each<ConfigMap>("a",
                                               [](const ConfigMap&) { return std::vector<ConfigMap>(); });
#elif REJECTED == 4
  ek::dependents<Secret>().add<ConfigMap>("a", one, {.when = [](const ConfigMap&) { return true; }});
#elif REJECTED == 5
  ek::dependents<Secret>().add<ConfigMap>("a", one, {.ready = [](const ConfigMap&) { return "no"; }});
#elif REJECTED == 6
  ek::dependents<Secret>().add_each<ConfigMap>("a", one);
#endif
}
#endif
