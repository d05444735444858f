// SPDX-License-Identifier: Apache-2.0
#include "ring_admin_client.hpp"

#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/http/curl_transport.hpp>

namespace {

ek::Duration seconds(double count) {
  return std::chrono::duration_cast<ek::Duration>(std::chrono::duration<double>(count));
}

ec::DatabaseProcess process_of(const RingProcess& process) {
  ec::DatabaseProcess result;
  result.address = process.address;
  result.process_class = process.process_class;
  // Each process has its own zone.
  result.locality = {{std::string(ec::locality::instance_id), process.id},
                     {std::string(ec::locality::zone_id), process.id},
                     {std::string(ec::locality::dc_id), process.dc}};
  result.version = process.version;
  result.command_line = process.command_line;
  result.excluded = process.excluded;
  result.uptime = seconds(process.uptime_seconds);
  result.roles = process.roles;
  return result;
}

std::string problem_of(const ek::http::Response& response) {
  try {
    return ek::Json::parse(response.body)["problem"].string_or(response.body);
  } catch (const ek::DecodeError&) {
    return response.body;
  }
}

}  // namespace

std::string ring_connection_string(const std::vector<std::string>& coordinators) {
  if (coordinators.empty()) return "";
  std::string text = "ring:";
  for (const std::string& coordinator : coordinators) {
    if (text.size() > 5) text += ',';  // longer than "ring:"
    text += coordinator;
  }
  return text;
}

ec::DatabaseStatus database_status(const RingStatus& found) {
  ec::DatabaseStatus status;
  status.available = found.available;
  status.generation = static_cast<std::uint64_t>(found.generation);
  status.recovery_state = found.recovery_state;
  status.since_last_recovery = seconds(found.seconds_since_recovery);
  status.can_clean_bounce = true;
  status.connection_string = ring_connection_string(found.coordinators);
  status.coordinators = found.coordinators;
  status.exclusions = found.exclusions;
  for (const RingProcess& process : found.processes) status.processes.push_back(process_of(process));
  return status;
}

RingAdminClient::RingAdminClient(RingAdminOptions options)
    : options_(std::move(options)),
      transport_(ek::http::make_curl_transport({.server = options_.url, .proxy = ""})) {}

ec::DatabaseStatus RingAdminClient::status(std::stop_token stop) {
  const std::string body = send({.target = "/status"}, std::move(stop));
  RingStatus found;
  try {
    found = ek::from_json<RingStatus>(body, "status");
  } catch (const ek::DecodeError& error) {
    throw ec::DatabaseError(error.what());
  }
  return database_status(found);
}

void RingAdminClient::raise_fence(const ec::Fence& fence, std::stop_token stop) {
  order("/fence", {}, fence, std::move(stop));
}

void RingAdminClient::exclude(const std::vector<std::string>& targets, const ec::Fence& fence,
                              std::stop_token stop) {
  order("/exclude", targets, fence, std::move(stop));
}

void RingAdminClient::include(const std::vector<std::string>& targets, const ec::Fence& fence,
                              std::stop_token stop) {
  order("/include", targets, fence, std::move(stop));
}

void RingAdminClient::kill(const std::vector<std::string>& addresses, const ec::Fence& fence,
                           std::stop_token stop) {
  order("/kill", addresses, fence, std::move(stop));
}

std::string RingAdminClient::change_coordinators(const std::vector<std::string>& coordinators,
                                                 const ec::Fence& fence, std::stop_token stop) {
  order("/coordinators", coordinators, fence, std::move(stop));
  return ring_connection_string(coordinators);
}

void RingAdminClient::order(std::string_view path, const std::vector<std::string>& targets,
                            const ec::Fence& fence, std::stop_token stop) {
  const RingOrder order{
      .targets = targets, .action = fence.action, .epoch = static_cast<std::int64_t>(fence.epoch)};
  send({.method = ek::http::Method::post, .target = std::string(path), .body = ek::to_json(order)},
       std::move(stop));
}

std::string RingAdminClient::send(ek::http::Request request, std::stop_token stop) {
  const std::string target = request.target;
  request.deadline = options_.clock->now() + options_.timeout;
  ek::http::Response response;
  try {
    response = transport_->fetch(std::move(request), std::move(stop));
  } catch (const ek::TransportError& error) {
    throw ec::DatabaseError(error.what());
  }
  if (response.status != 200)
    throw ec::DatabaseError(target + ": " + std::to_string(response.status) + " " + problem_of(response));
  return std::move(response.body);
}
