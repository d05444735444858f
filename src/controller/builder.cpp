// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/controller/builder.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

void check_selectors(const std::string& clause, const TriggerOptions& options) {
  const auto check = [&clause](const char* option, const std::string& text, auto parse) {
    try {
      parse(text);
    } catch (const DecodeError& error) {
      throw std::invalid_argument(clause + option + " \"" + text + "\": " + error.what());
    }
  };
  check("label_selector", options.label_selector,
        [](const std::string& text) { LabelSelector::parse(text); });
  check("field_selector", options.field_selector,
        [](const std::string& text) { FieldSelector::parse(text); });
}

void check_namespaces(const std::string& clause, const ResourceId& resource,
                      const std::vector<std::string>& namespaces) {
  if (!namespaces.empty() && resource.scope == Scope::cluster)
    throw std::invalid_argument(clause + "namespaces: the kind is cluster-scoped");
  std::set<std::string_view> seen;
  for (const std::string& space : namespaces) {
    if (space.empty())
      throw std::invalid_argument(clause + "namespaces: one is empty; leave the option out for all");
    if (!seen.insert(space).second)
      throw std::invalid_argument(clause + "namespaces: \"" + space + "\" is there twice");
  }
}

InformerOptions options_of(const Cache& cache, const WatchScope& scope) {
  InformerOptions options = cache.default_options();
  if (!scope.namespace_.empty()) options.namespace_ = scope.namespace_;
  options.label_selector = scope.label_selector;
  options.field_selector = scope.field_selector;
  options.form = scope.form;
  options.projection = scope.projection;
  options.resync = scope.resync.value_or(options.resync);
  options.divisible = true;  // the feed asks for all where keys have other namespaces than the objects
  return options;
}

}  // namespace

std::string default_name(std::string_view kind) {
  std::string name(kind);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

Attachment attach_to(const std::shared_ptr<Informer>& informer, std::shared_ptr<EventHandler> handler,
                     Delivery delivery) {
  const HandlerId id = informer->add_handler(std::move(handler), {.delivery = delivery});
  return {.informer = informer, .remove = [informer, id] { informer->remove_handler(id); }};
}

std::vector<ObjectKey> all_keys(const std::vector<const Informer*>& informers) {
  std::vector<ObjectKey> keys;
  for (const Informer* informer : informers) {
    for (const WireObject& object : informer->store().snapshot()) keys.push_back(object.key());
  }
  return keys;
}

std::vector<WatchScope> scopes_of(std::string_view clause, const ResourceId& resource,
                                  const TriggerOptions& options,
                                  const std::optional<Projection>& projection) {
  const std::string name = std::string(clause) + "<" + resource.kind + ">: ";
  check_selectors(name, options);
  check_namespaces(name, resource, options.namespaces);
  if (options.resync && *options.resync < Duration::zero())
    throw std::invalid_argument(name + "resync must not be negative");
  if (options.form == WireForm::projected && !projection)
    throw std::invalid_argument(name + "form: a projection is that of a C++ type, and the kind has none");
  WatchScope scope{.label_selector = options.label_selector,
                   .field_selector = options.field_selector,
                   .resync = options.resync,
                   .form = options.form,
                   .projection = projection.value_or(Projection())};
  if (options.namespaces.empty()) return {std::move(scope)};
  std::vector<WatchScope> scopes;
  for (const std::string& space : options.namespaces) {
    scope.namespace_ = space;
    scopes.push_back(scope);
  }
  return scopes;
}

WatchScope scope_of(const ResourceId& resource, const TriggerOptions& options,
                    const std::optional<Projection>& projection) {
  auto scopes = scopes_of("watch", resource, options, projection);
  if (scopes.size() > 1)
    throw std::invalid_argument("watch<" + resource.kind +
                                ">: only one namespace is possible; add a watch for each");
  scopes.front().declared = false;
  return std::move(scopes.front());
}

WatchSpec watch_of(const ResourceId& resource, KeyMapping mapping, TriggerOptions options, WatchScope scope,
                   Delivery delivery) {
  return {.resource = resource,
          .mapping = std::move(mapping),
          .when = std::move(options.when),
          .priority = options.priority,
          .delay = options.delay,
          .attach = [resource, scope = std::move(scope), delivery](Cache& cache,
                                                                   std::shared_ptr<EventHandler> handler) {
            auto informer = cache.lease(resource, options_of(cache, scope));
            if (scope.declared) informer_of(cache, resource, scope);
            return attach_to(informer, std::move(handler), delivery);
          }};
}

Informer& informer_of(Cache& cache, const ResourceId& resource, const WatchScope& scope) {
  return cache.informer(resource, options_of(cache, scope));
}

std::vector<const Informer*> informers_of(Cache& cache, const ResourceId& resource,
                                          const std::vector<WatchScope>& scopes) {
  std::vector<const Informer*> informers;
  informers.reserve(scopes.size());
  for (const WatchScope& scope : scopes) informers.push_back(&informer_of(cache, resource, scope));
  return informers;
}

KeyMapping mapping_by_index(Cache& cache, const ResourceId& watched, const ResourceId& resource,
                            const std::vector<WatchScope>& scopes, const IndexedKeys& keys) {
  auto informers = informers_of(cache, resource, scopes);
  try {
    for (const Informer* informer : informers) informer->store().by_index(keys.index, {});
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("watches<" + watched.kind + ">: " + resource.kind + ": " + error.what());
  }
  return map_to_indexed(resource, std::move(informers), keys);
}

void require_form(const ResourceId& resource, const IndexDefinition& index, WireForm kept) {
  if (kept != WireForm::metadata_only || index.form == WireForm::metadata_only) return;
  throw std::invalid_argument("index<" + resource.kind + ">: the index \"" + index.name +
                              "\" needs whole objects, and controller_for keeps metadata only; let its "
                              "function take a const WireObject&");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
