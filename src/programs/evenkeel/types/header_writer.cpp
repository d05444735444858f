// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/header_writer.hpp"

#include "programs/evenkeel/types/cxx_names.hpp"
#include "programs/evenkeel/types/cxx_text.hpp"

namespace evenkeel::program {
namespace {

/// Appends "head(a, b)" in lines of at most line_width, the others aligned to the first entry.
void append_list(std::string& out, const std::string& head, const std::vector<std::string>& entries,
                 const std::string& end) {
  const std::string indent(head.size() - head.find_last_of('\n') - 1, ' ');
  std::string line = head;
  bool is_first = true;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string entry = entries[i] + (i + 1 < entries.size() ? "," : end);
    if (!is_first && line.size() + 1 + entry.size() > line_width) {
      out += line + "\n";
      line = indent + entry;
    } else {
      line += (is_first ? "" : " ") + entry;
    }
    is_first = false;
  }
  out += (entries.empty() ? line + end : line) + "\n";
}

std::string entry_of(const Member& member) {
  if (member.attributes.empty()) return member.name;
  std::string out = "(" + member.name;
  for (const std::string& attribute : member.attributes) out += ", " + attribute;
  return out + ")";
}

void append_enum(std::string& out, const Declaration& type) {
  out += comment(type.description, "");
  std::vector<std::string> names;
  std::vector<std::string> entries = {type.name};
  for (const auto& [name, wire] : type.words) {
    names.push_back(name);
    entries.push_back(word_of_enumerator(name) == wire ? name : "(" + name + ", " + literal(wire) + ")");
  }
  append_list(out, "enum class " + type.name + " { ", names, " };");
  append_list(out, "EVENKEEL_ENUM(", entries, ")");
}

void append_rules(std::string& out, const Declaration& type) {
  if (type.rules.empty()) return;
  out += "  static constexpr ek::CelRule rules[] = {\n";
  for (const auto& [rule, message] : type.rules) {
    out += "      {.rule = " + literal(rule);
    if (!message.empty()) out += ",\n       .message = " + literal(message);
    out += "},\n";
  }
  out += "  };\n";
}

void append_members(std::string& out, const Declaration& type) {
  for (const Member& member : type.members) {
    out += comment(member.description, "  ") + "  " + member.type + " " + member.name + " = {};\n";
  }
  if (!type.members.empty()) out += "\n";
  out += "  bool operator==(const " + type.name + "&) const = default;\n};\n";
  std::vector<std::string> entries = {type.name};
  for (const Member& member : type.members) entries.push_back(entry_of(member));
  append_list(out, "EVENKEEL_FIELDS(", entries, ")");
}

void append_resource(std::string& out, const CrdSource& source, const HeaderOptions& options) {
  out += "  static constexpr ek::ResourceInfo resource{.group = " + literal(source.group);
  const std::string indent = ",\n                                             .";
  out += indent + "version = " + literal(source.version);
  out += indent + "kind = " + literal(source.kind);
  out += indent + "plural = " + literal(source.plural);
  if (source.is_cluster_wide) out += indent + "scope = ek::Scope::cluster";
  if (!source.short_names.empty()) out += indent + "short_name = " + literal(source.short_names[0]);
  if (options.installs_crd) out += indent + "installs_crd = true";
  out += "};\n";
}

void append_columns(std::string& out, const CrdSource& source) {
  if (source.columns.empty()) return;
  out += "  static constexpr ek::PrinterColumn columns[] = {\n";
  for (const CrdColumn& column : source.columns) {
    out += "      {.name = " + literal(column.name) + ", .type = " + literal(column.type) +
           ", .json_path = " + literal(column.json_path);
    if (!column.description.empty()) out += ",\n       .description = " + literal(column.description);
    if (!column.format.empty()) out += ", .format = " + literal(column.format);
    if (column.priority != 0) out += ", .priority = " + std::to_string(column.priority);
    out += "},\n";
  }
  out += "  };\n";
}

void append_scale(std::string& out, const CrdSource& source, bool suppresses) {
  const std::string start = "  static constexpr ek::ScaleSubresource scale{";
  if (suppresses) out += start + ".enabled = false};\n";
  if (!source.scale) return;
  out += start + ".spec_replicas_path = " + literal(source.scale->spec_replicas_path);
  const std::string indent = ",\n" + std::string(start.size(), ' ') + ".";
  out += indent + "status_replicas_path = " + literal(source.scale->status_replicas_path);
  if (!source.scale->label_selector_path.empty())
    out += indent + "label_selector_path = " + literal(source.scale->label_selector_path);
  out += "};\n";
}

void append_constants(std::string& out, const CrdSource& source, const Declaration& kind,
                      const HeaderOptions& options) {
  if (!source.categories.empty()) {
    std::vector<std::string> names;
    for (const std::string& category : source.categories) names.push_back(literal(category));
    append_list(out, "  static constexpr std::string_view categories[] = {", names, "};");
  }
  if (options.installs_crd && !kind.description.empty())
    out += "  static constexpr std::string_view description = " + literal(kind.description) + ";\n";
  if (!source.api_approved.empty())
    out += "  static constexpr std::string_view api_approved = " + literal(source.api_approved) + ";\n";
}

void append_kind(std::string& out, const CrdSource& source, const TypeModel& model,
                 const HeaderOptions& options) {
  const Declaration& kind = model.declarations.back();
  out += comment(kind.description, "");
  if (!model.lost.empty()) {
    out += "///\n/// Parts of the definition that these types do not have; the server still has them:\n";
    for (const std::string& part : model.lost) out += comment("- " + part, "");
  }
  out += "struct " + kind.name + " {\n";
  append_resource(out, source, options);
  append_columns(out, source);
  append_scale(out, source, model.suppresses_scale);
  append_constants(out, source, kind, options);
  append_rules(out, kind);
  append_members(out, kind);
}

std::string includes_of(const std::string& types, const std::set<std::string>& headers) {
  constexpr std::pair<std::string_view, std::string_view> standard[] = {{"std::int", "cstdint"},
                                                                        {"std::map<", "map"},
                                                                        {"std::optional<", "optional"},
                                                                        {"std::string", "string"},
                                                                        {"std::string_view", "string_view"},
                                                                        {"std::vector<", "vector"}};
  std::string out;
  for (const auto& [name, header] : standard) {
    if (types.find(name) != std::string::npos) out += "#include <" + std::string(header) + ">\n";
  }
  if (!out.empty()) out += "\n";
  for (const std::string& header : headers) out += "#include <" + header + ">\n";
  return out;
}

}  // namespace

std::string write_header(const std::vector<CrdSource>& sources, const std::vector<TypeModel>& models,
                         const HeaderOptions& options) {
  std::string types;
  std::set<std::string> headers;
  std::string kinds;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    headers.insert(models[i].headers.begin(), models[i].headers.end());
    kinds += "//   " + sources[i].plural + "." + sources[i].group + "/" + sources[i].version + "\n";
    const auto& declarations = models[i].declarations;
    for (std::size_t each = 0; each + 1 < declarations.size(); ++each) {
      types += "\n";
      if (!declarations[each].words.empty()) {
        append_enum(types, declarations[each]);
        continue;
      }
      types += comment(declarations[each].description, "") + "struct " + declarations[each].name + " {\n";
      append_rules(types, declarations[each]);
      append_members(types, declarations[each]);
    }
    types += "\n";
    append_kind(types, sources[i], models[i], options);
  }
  const std::string open = options.name_space.empty() ? "" : "\nnamespace " + options.name_space + " {\n";
  const std::string close =
      options.name_space.empty() ? "" : "\n}  // namespace " + options.name_space + "\n";
  return "// Made by `evenkeel types` from the CustomResourceDefinition of\n" + kinds +
         "// clang-format off\n#pragma once\n\n" + includes_of(types, headers) +
         "\nnamespace ek = evenkeel;\n" + open + types + close;
}

}  // namespace evenkeel::program
