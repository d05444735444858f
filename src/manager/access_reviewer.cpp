// SPDX-License-Identifier: Apache-2.0
#include "manager/access_reviewer.hpp"

#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/calls.hpp>

#include "manager/access_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr Duration review_timeout = std::chrono::seconds{10};

http::Response refusal_with(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::to_string(status) + " " + std::move(text) + "\n"};
}

std::optional<http::Response> refusal_of(const AccessVerdict& verdict, const http::AccessQuestion& asked) {
  switch (verdict.result) {
    case AccessResult::allowed:
      return std::nullopt;
    case AccessResult::no_token:
    case AccessResult::unknown: {
      http::Response refused = refusal_with(401, verdict.result == AccessResult::no_token
                                                     ? "a bearer token is needed"
                                                     : "the API server does not accept the bearer token");
      refused.headers.set("WWW-Authenticate", "Bearer");
      return refused;
    }
    case AccessResult::denied:
      return refusal_with(403,
                          verdict.user + " may not " + asked.verb + " the non-resource URL " + asked.path);
    case AccessResult::busy:
      return refusal_with(503, "too many reviews of tokens are running; try again");
    case AccessResult::failed:
      break;
  }
  return refusal_with(503, "the API server could not be asked for access; try again");
}

/// The core with its lock, and the requests that wait.
class AccessReviewer final : public std::enable_shared_from_this<AccessReviewer> {
 public:
  AccessReviewer(const Client& client, std::shared_ptr<const Clock> clock, Log log)
      : client_(client.with({.timeout = review_timeout, .without_flow_control = true})),
        clock_(std::move(clock)),
        log_(std::move(log)) {}

  void review(const http::AccessQuestion& question, http::AccessDecided decided) EVENKEEL_EXCLUDES(mutex_) {
    AccessActions actions;
    {
      MutexLock lock(mutex_);
      const std::uint64_t request = ++last_request_;
      waiting_.emplace(request, Waiting{question, std::move(decided)});
      actions = core_.on_request(request, question, clock_->now());
    }
    perform(actions);
  }

 private:
  using React = AccessActions (AccessCore::*)(const std::string&, const Json&, TimePoint);
  struct Waiting {
    http::AccessQuestion question = {};
    http::AccessDecided decided = {};
  };

  void perform(const AccessActions& actions) EVENKEEL_EXCLUDES(mutex_) {
    for (const AccessVerdict& verdict : actions.verdicts) decide(verdict);
    for (const std::string& token : actions.token_reviews) {
      send({"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", Scope::cluster},
           Json::object({{"token", token}}), token, &AccessCore::on_token_review);
    }
    for (const std::string& spec : actions.rights_reviews) {
      send({"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", Scope::cluster},
           Json::parse(spec), spec, &AccessCore::on_rights_review);
    }
  }

  void decide(const AccessVerdict& verdict) EVENKEEL_EXCLUDES(mutex_) {
    Waiting waiting;
    {
      MutexLock lock(mutex_);
      const auto found = waiting_.find(verdict.request);
      if (found == waiting_.end()) return;
      waiting = std::move(found->second);
      waiting_.erase(found);
    }
    waiting.decided(refusal_of(verdict, waiting.question));
  }

  // Completions arrive on the transport's thread, and may come after the endpoint has ended.
  void send(const ResourceId& resource, Json spec, const std::string& subject, React react) {
    const Json body = Json::object(
        {{"apiVersion", resource.api_version()}, {"kind", resource.kind}, {"spec", std::move(spec)}});
    const auto done = [self = shared_from_this(), kind = resource.kind, subject,
                       react](Outcome<http::Response> answer) {
      self->on_answer(kind, subject, react, std::move(answer));
    };
    client_.start(calls::raw({.method = http::Method::post,
                              .resource = resource,
                              .content_type = "application/json",
                              .body = body.dump()}),
                  done);
  }

  void on_answer(const std::string& kind, const std::string& subject, React react,
                 Outcome<http::Response> answer) EVENKEEL_EXCLUDES(mutex_) {
    Json status;
    std::string problem;
    try {
      status = Json::parse(answer.value().body, kind)["status"];
      if (!status.is_object()) problem = kind + ": the answer has no status";
    } catch (const std::exception& error) {
      problem = error.what();
    }
    report(problem);
    AccessActions actions;
    {
      MutexLock lock(mutex_);
      actions = (core_.*react)(subject, status, clock_->now());
    }
    perform(actions);
  }

  // One line when reviews begin to fail, and one when they succeed again.
  void report(const std::string& problem) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const bool failing = !problem.empty();
    if (std::exchange(failing_, failing) == failing) return;
    if (failing) {
      log_.error("the API server cannot be asked who may use the endpoint", {{"error", problem}});
    } else {
      log_.info("the API server can be asked again who may use the endpoint");
    }
  }

  const Client client_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  Mutex mutex_;
  AccessCore core_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Waiting> waiting_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t last_request_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool failing_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace

http::AccessReview make_access_review(const Client& client, std::shared_ptr<const Clock> clock, Log log) {
  return [reviewer = std::make_shared<AccessReviewer>(client, std::move(clock), std::move(log))](
             const http::AccessQuestion& question, http::AccessDecided decided) {
    reviewer->review(question, std::move(decided));
  };
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
