// SPDX-License-Identifier: Apache-2.0
// Files, flags and program outputs: kubeconfigs, settings, texts of limiters, credentials.
#include <stdexcept>

#include <evenkeel/api/time.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/ratelimit/parse.hpp>

#include "client/config/credential_check.hpp"
#include "client/config/exec_plugin.hpp"
#include "client/config/kubeconfig.hpp"
#include "fuzz.hpp"
#include "manager/settings_file.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {

/// One file, or two separated by a zero byte: the first one takes precedence.
void kubeconfig(std::string_view input) {
  Reader reader(input);
  try {
    detail::Kubeconfig files;
    files.add("first", reader.until('\0'));
    if (!reader.done()) files.add("second", reader.rest());
    for (const char* context : {"", "a", "none"}) {
      try {
        const Config config = files.resolve(context);
        check(!config.server.empty(), "a resolved context has a server");
      } catch (const ConfigError&) {
        // The other contexts may still be good.
      }
    }
  } catch (const ConfigError&) {
    // Invalid input.
  }
}

/// The output of a credential program. A token that is accepted must also pass the check of a configuration.
void exec_credential(std::string_view input) {
  const ExecPlugin program{.command = "aws"};
  try {
    const detail::ExecCredential credential = detail::read_exec_credential(program, input);
    check(!credential.token.empty() || credential.certificate, "a credential has a token or a certificate");
    check(!credential.expires || Time(*credential.expires).str().size() == 20,
          "an expiry is a time of RFC 3339");
    if (!detail::token_problem(credential.token).empty()) return;
    for (const char byte : credential.token)
      check(byte == '\t' || (static_cast<unsigned char>(byte) >= ' ' && byte != 0x7f),
            "a token that is sent has no control byte");
    detail::check_credentials({.server = "https://h", .token = credential.token});
  } catch (const ConfigError& error) {
    const std::string_view text = error.what();
    check(text.starts_with("credential program aws: ") && text.size() < 120,
          "an error names the program only");
  }
}

void settings(std::string_view input) {
  detail::SettingsSource file;
  try {
    file = detail::parse_settings(std::string(input), "file.yaml");
  } catch (const detail::SettingsError& error) {
    check(std::string_view(error.what()).starts_with("file.yaml"), "an error names the file");
    return;
  }
  detail::Settings in_force({}, std::move(file));
  static_cast<void>(in_force.unknown_name());
}

/// A parsed limiter must be printed in a form that parses to the same, and must be usable.
void limiter(std::string_view input) {
  try {
    const LimiterText text(input);
    check(LimiterText(text.text()).text() == text.text(), "the text of a limiter reads as the same");
    auto one = text.limiter<int>();
    TimePoint now(std::chrono::seconds(1000));
    for (int i = 0; i < 20; ++i) {
      const Duration delay = one.when(i % 3, now);
      check(delay >= Duration::zero(), "a delay is not negative");
      now += std::chrono::milliseconds(i * i);
      if (i % 7 == 0) one.forget(i % 3);
    }
    check(one.retries(1) <= 20, "a key was tried at most as often as it was asked for");
  } catch (const std::invalid_argument&) {
    // Invalid input.
  }
}

}  // namespace evenkeel::fuzz
