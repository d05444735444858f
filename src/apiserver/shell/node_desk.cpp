// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/node_desk.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "apiserver/query/rest_path.hpp"
#include "apiserver/shell/kubelet_messages.hpp"
#include "apiserver/shell/status_answer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

/// Runs on the thread of a function of the kubelet, until the end of its channel.
using Work = std::function<void(PodChannel&)>;

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Returns the only port of a request; nullopt if it has none or several.
std::optional<std::uint16_t> port_of(const Query& query) {
  const std::vector<std::string> ports = query.all("ports");
  const auto port = ports.size() == 1 ? number_of<std::uint16_t>(ports.front()) : std::nullopt;
  return port == std::uint16_t{0} ? std::nullopt : port;
}

template <class Options>
Options streams_of(const Query& query, const NodeAction& action) {
  Options options;
  options.container = action.container;
  options.with_stdin = query.flag("stdin");
  options.with_stdout = query.flag("stdout");
  options.with_stderr = query.flag("stderr");
  options.tty = query.flag("tty");
  return options;
}

// Source: PodExecOptions and kubelet pkg/cri/streaming/remotecommand/httpstream.go, NewOptions.
std::string process_problem(const Query& query, const NodeAction& action) {
  const auto options = streams_of<AttachOptions>(query, action);
  if (options.tty && options.with_stderr) return "tty and stderr cannot both be true";
  if (!options.with_stdin && !options.with_stdout && !options.with_stderr)
    return "you must specify at least 1 of stdin, stdout, stderr";
  if (action.name == "exec" && query.all("command").empty())
    return "you must specify at least 1 word of command";
  return "";
}

std::string log_problem(const Query& query) {
  for (const char* name : {"tailLines", "sinceSeconds", "limitBytes"}) {
    if (query.has(name) && !number_of<std::int64_t>(query.get(name)))
      return std::string(name) + ": not a number: \"" + std::string(query.get(name)) + "\"";
  }
  return "";
}

PodLogOptions log_options(const Query& query, const NodeAction& action) {
  PodLogOptions options{.container = action.container,
                        .follow = query.flag("follow"),
                        .previous = query.flag("previous"),
                        .timestamps = query.flag("timestamps"),
                        .tail_lines = number_of<std::int64_t>(query.get("tailLines")),
                        .since_time = std::string(query.get("sinceTime")),
                        .limit_bytes = number_of<std::int64_t>(query.get("limitBytes"))};
  if (const auto seconds = number_of<std::int64_t>(query.get("sinceSeconds")))
    options.since = std::chrono::seconds{*seconds};
  return options;
}

/// Ends the channel with what `run` returns, or as `failed` says.
template <class Run, class Failed>
void finish(PodChannel& channel, const Run& run, const Failed& failed) {
  try {
    channel.end(run(), std::nullopt);
  } catch (const std::exception& error) {
    channel.end(failed(error.what()), error.what());
  } catch (...) {
    constexpr const char* unknown = "an exception that is no std::exception";
    channel.end(failed(unknown), unknown);
  }
}

Work process_work(std::shared_ptr<const Kubelet> kubelet, const Query& query, const NodeAction& action) {
  if (action.name == "attach") {
    return [kubelet = std::move(kubelet), pod = action.pod,
            options = streams_of<AttachOptions>(query, action)](PodChannel& channel) {
      finish(
          channel, [&] { return exit_message(kubelet->on_attach(pod, options, channel)); }, failure_message);
    };
  }
  auto options = streams_of<ExecOptions>(query, action);
  options.command = query.all("command");
  return [kubelet = std::move(kubelet), pod = action.pod, options = std::move(options)](PodChannel& channel) {
    finish(
        channel, [&] { return exit_message(kubelet->on_exec(pod, options, channel)); }, failure_message);
  };
}

Work port_work(std::shared_ptr<const Kubelet> kubelet, const ObjectKey& pod, std::uint16_t port) {
  return [kubelet = std::move(kubelet), pod, port](PodChannel& channel) {
    const auto run = [&] {
      kubelet->on_port_forward(pod, port, channel);
      return std::string();
    };
    finish(channel, run, [](const std::string& why) { return stream_message(port_error_stream, why); });
  };
}

/// Puts the messages first with which a server begins.
void begin(PodChannel& channel, const Query& query, const NodeAction& action) {
  if (action.name == "portforward") {
    const std::uint16_t port = port_of(query).value_or(0);
    channel.begin(port_message(data_stream, port));
    return channel.begin(port_message(port_error_stream, port));
  }
  // Source: apiserver pkg/util/wsstream/conn.go: an empty message on the first stream that can be written.
  const auto options = streams_of<AttachOptions>(query, action);
  const unsigned char errors = options.with_stderr ? error_stream : status_stream;
  channel.begin(stream_message(options.with_stdout ? output_stream : errors, ""));
}

}  // namespace

std::string_view request_query(const http::Request& request) {
  const std::size_t mark = request.target.find('?');
  return mark == std::string::npos ? std::string_view() : std::string_view(request.target).substr(mark + 1);
}

bool NodeDesk::serves(const NodeAction& action) const noexcept {
  if (action.name == "exec") return static_cast<bool>(kubelet_->on_exec);
  if (action.name == "attach") return static_cast<bool>(kubelet_->on_attach);
  if (action.name == "log") return static_cast<bool>(kubelet_->on_logs);
  return action.name == "portforward" && kubelet_->on_port_forward;
}

std::optional<http::Response> NodeDesk::answer(const http::Request& request, const NodeAction& action) const {
  if (!serves(action)) return std::nullopt;
  const Query query(request_query(request));
  const bool of_port = action.name == "portforward";
  std::string problem;
  if (action.name == "log") {
    problem = log_problem(query);
  } else if (!asks_for_web_socket(request)) {
    problem = "Upgrade request required: this server speaks only WebSocket for " + action.name;
  } else if (of_port && !port_of(query)) {
    problem = "ports: this server forwards one port for each WebSocket";
  } else if (!of_port) {
    problem = process_problem(query, action);
  }
  if (problem.empty() && action.name != "log" && chosen_protocol(request, of_port).empty())
    problem = std::string("unable to upgrade: this server speaks ") +
              (of_port ? "" : "v5.channel.k8s.io and ") + "v4.channel.k8s.io";
  if (!problem.empty()) return status_answer(400, "", problem);
  return http::Response{.status = action.name == "log" ? 200 : 101};
}

std::shared_ptr<PodSocket> NodeDesk::open(http::detail::Session& session, const http::Request& request,
                                          const NodeAction& action) {
  const Query query(request_query(request));
  const bool of_port = action.name == "portforward";
  const auto options = streams_of<AttachOptions>(query, action);
  const auto target = std::make_shared<std::weak_ptr<PodSocket>>();  // used on the server's thread
  const auto channel =
      std::make_shared<PodChannel>(PodChannelOptions{.wire = of_port ? PodWire::port : PodWire::process,
                                                     .with_input = of_port || options.with_stdin,
                                                     .with_output = of_port || options.with_stdout,
                                                     .with_errors = options.with_stderr,
                                                     .joins_errors = options.tty},
                                   [target, &context = context_] {
                                     asio::post(context, [target] {
                                       if (const auto socket = target->lock()) socket->pump();
                                     });
                                   });
  begin(*channel, query, action);
  auto socket = make_pod_socket(session, context_, channel, chosen_protocol(request, of_port));
  *target = socket;
  Work work = of_port ? port_work(kubelet_, action.pod, port_of(query).value_or(0))
                      : process_work(kubelet_, query, action);
  socket->start(request, [this, channel, work = std::move(work)] { run(channel, work); });
  return socket;
}

void NodeDesk::run(const std::shared_ptr<PodChannel>& channel, const Work& work) {
  try {
    threads_.start([channel, work] { work(*channel); });
  } catch (const std::system_error&) {
    channel->end("", "no thread for the function");
  }
}

std::shared_ptr<PodChannel> NodeDesk::read_log(const http::Request& request, const NodeAction& action,
                                               std::function<void()> on_ready) {
  const auto channel = std::make_shared<PodChannel>(
      PodChannelOptions{.wire = PodWire::log, .with_input = false},
      [on_ready = std::move(on_ready), &context = context_] { asio::post(context, on_ready); });
  run(channel, [kubelet = kubelet_, pod = action.pod,
                options = log_options(Query(request_query(request)), action)](PodChannel& log) {
    const auto write = [&] {
      kubelet->on_logs(pod, options, log);
      return std::string();
    };
    finish(log, write, [](const std::string&) { return std::string(); });
  });
  return channel;
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
