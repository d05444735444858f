// SPDX-License-Identifier: Apache-2.0
#include "manager/settings_file.hpp"

#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "base/files.hpp"
#include "client/config/yaml_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// A map in the file, with its position.
class Section {
 public:
  using Read = std::function<void(const YAML::Node& key, const YAML::Node& value)>;
  using Field = std::pair<std::string_view, std::function<void(const YAML::Node& value)>>;

  Section(std::string file, std::string path, const YAML::Node& node)
      : file_(std::move(file)), path_(std::move(path)), node_(node) {
    if (!node_.IsMap() && !node_.IsNull()) {
      fail(node_, {}, std::string("expected a map, found ") + kind_of(node_));
    }
  }

  /// Calls `read` for each member in the order of the file. Rejects duplicate names.
  void each(const Read& read) const {
    if (!node_.IsMap()) return;
    std::set<std::string> seen;
    for (const auto& member : node_) {
      const YAML::Node& key = member.first;
      if (!key.IsScalar()) fail(key, {}, std::string("expected a name, found ") + kind_of(key));
      if (!seen.insert(key.Scalar()).second) fail(key, key.Scalar(), "is given twice");
      try {
        read(key, member.second);
      } catch (const std::invalid_argument& wrong) {
        fail(key, key.Scalar(), wrong.what());
      }
    }
  }

  /// Calls the one of `fields` that has the member's name; rejects unknown members. A std::invalid_argument
  /// thrown by a field becomes the message for it.
  void read(const std::vector<Field>& fields) const {
    each([&](const YAML::Node& key, const YAML::Node& value) {
      std::string expected;
      for (const auto& [name, take] : fields) {
        if (name == key.Scalar()) return take(value);
        expected += (expected.empty() ? "" : ", ") + std::string(name);
      }
      throw std::invalid_argument("there is no such setting; there are: " + expected);
    });
  }

  Section child(const std::string& name, const YAML::Node& node) const { return {file_, where(name), node}; }
  std::string place(const YAML::Node& node, const std::string& name) const {
    return file_ + ":" + std::to_string(node.Mark().line + 1) + ": " + where(name);
  }

 private:
  std::string where(const std::string& name) const {
    return path_.empty() || name.empty() ? path_ + name : path_ + "." + name;
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& name, const std::string& problem) const {
    const std::string at = place(node, name);
    throw SettingsError(at.ends_with(": ") ? at + problem : at + ": " + problem);
  }
  std::string file_;
  std::string path_;
  YAML::Node node_;
};

const std::string& text_of(const YAML::Node& value) {
  if (!value.IsScalar()) throw std::invalid_argument(std::string("expected text, found ") + kind_of(value));
  return value.Scalar();
}

// Returns a text field that `parse` reads into `target`.
template <class Target, class Parse>
Section::Field text_field(std::string_view name, Target& target, Parse parse) {
  return {name, [&target, parse](const YAML::Node& value) { target = parse(text_of(value)); }};
}

Debounce read_debounce(const Section& section) {
  Debounce debounce;
  section.read({text_field("quiet", debounce.quiet, parse_timeout),
                text_field("maxWait", debounce.max_wait, parse_timeout)});
  if (debounce.max_wait < debounce.quiet) throw std::invalid_argument("maxWait must be at least quiet");
  return debounce;
}

ControllerSettings read_controller(const Section& section) {
  ControllerSettings settings;
  const auto limiter = [](const std::string& text) { return LimiterText(text); };
  section.read({text_field("workers", settings.workers, parse_workers),
                text_field("rateLimiter", settings.rate_limiter, limiter),
                text_field("reconcileTimeout", settings.reconcile_timeout, parse_timeout),
                text_field("eventGate", settings.event_gate, parse_event_gate),
                text_field("store", settings.store, parse_store),
                {"debounce",
                 [&](const YAML::Node& value) {
                   settings.debounce = read_debounce(section.child("debounce", value));
                 }},
                text_field("minInterval", settings.min_interval, parse_timeout),
                text_field("requeuePriority", settings.requeue_priority, parse_lane),
                text_field("stuckAfter", settings.stuck_after, parse_limit),
                text_field("onStuck", settings.on_stuck, parse_on_stuck),
                text_field("flightRecorder", settings.flight_recorder, parse_size)});
  return settings;
}

EndpointSettings read_endpoint(const Section& section) {
  EndpointSettings settings;
  const auto path = [](const std::string& text) { return text; };
  section.read({text_field("metricsBindAddress", settings.metrics_address, parse_bind_address),
                text_field("metricsCertFile", settings.metrics_cert_file, path),
                text_field("metricsKeyFile", settings.metrics_key_file, path),
                text_field("metricsTokenFile", settings.metrics_token_file, path),
                text_field("healthProbeBindAddress", settings.probe_address, parse_bind_address),
                text_field("debugEndpoints", settings.explanations, parse_explanations),
                text_field("metricsAccessReviews", settings.access_reviews, parse_access_reviews),
                text_field("console", settings.console, parse_console)});
  return settings;
}

SettingsSource read_document(const Section& document) {
  SettingsSource source;
  const auto read_controllers = [&](const YAML::Node& value) {
    const Section controllers = document.child("controllers", value);
    controllers.each([&](const YAML::Node& key, const YAML::Node& settings) {
      const std::string& name = key.Scalar();
      source.controllers[name] = {read_controller(controllers.child(name, settings)),
                                  controllers.place(key, name)};
    });
  };
  const auto read_defaults = [&](const YAML::Node& value) {
    source.defaults = read_controller(document.child("defaults", value));
  };
  const auto read_endpoint_section = [&](const YAML::Node& value) {
    source.endpoint = read_endpoint(document.child("endpoint", value));
  };
  document.read(
      {{"defaults", read_defaults}, {"controllers", read_controllers}, {"endpoint", read_endpoint_section}});
  return source;
}

}  // namespace

SettingsSource parse_settings(const std::string& text, const std::string& path) {
  YAML::Node document;
  try {
    document = load_yaml(text);
  } catch (const YAML::Exception& error) {
    throw SettingsError(path + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  return read_document(Section(path, {}, document));
}

SettingsSource read_settings(const std::string& path) {
  std::string problem;
  const std::optional<std::string> text = read_file(path, problem);
  if (!text) throw SettingsError(path + " cannot be read: " + problem);
  return parse_settings(*text, path);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
