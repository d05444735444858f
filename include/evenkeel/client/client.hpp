// SPDX-License-Identifier: Apache-2.0
// API server client: typed reads and writes, blocking or with a completion.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/detail/edit_check.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

class RequestMeter;
class ResourceClient;
namespace detail {
class ClientState;
class WriteLog;
}

/// Called exactly once, on the transport's thread (or on the caller's, if no request was necessary); must
/// neither block nor throw.
template <class T>
using Completion = std::function<void(Outcome<T>)>;

/// Objects of a kind at one revision of the server.
template <class T>
struct List {
  std::vector<Snapshot<T>> items = {};
  std::string resource_version = {};  ///< A watch can start from here.
  std::string continue_token = {};    ///< Not empty: the list was limited and there are more objects.
};

/// A list whose items are not decoded yet. The texts are valid as long as `bodies` are.
struct RawList {
  std::vector<std::string_view> items = {};
  std::vector<std::shared_ptr<const std::string>> bodies = {};
  std::vector<std::size_t> ends = {};  ///< ends[i] is one past the last item of bodies[i].
  std::string resource_version = {};
  std::string continue_token = {};
};

/// Desired and observed replicas, for kinds with the scale subresource.
struct Scale {
  std::int64_t replicas = 0;         ///< Desired.
  std::int64_t status_replicas = 0;  ///< Observed.
  std::string selector = {};
  std::string resource_version = {};
};

/// A kind whose C++ type declares every field, so that replacing a whole object loses nothing; the type
/// states this by `static constexpr bool complete = true`.
template <class T>
concept CompleteType = ObjectType<T> && requires {
  requires T::complete;
};

#define EVENKEEL_PP_UPDATE_HINT                                                                            \
  "update() replaces whole objects, and this type does not declare every field: use patch(), which sends " \
  "what "                                                                                                  \
  "changed; a type that does declare them says `static constexpr bool complete = true`"

/// A handle to a server, an identity and the options bound by with(). Cheap to copy.
///
/// Blocking calls return the response, or throw: ApiError (the server rejected the request), TransportError
/// (no response), Cancelled (the bound stop token), DecodeError (a response that is not such an object),
/// std::invalid_argument (a key without a name, or without a namespace for a namespaced kind). Rejections and
/// broken connections are retried within the call's deadline if that is safe, see RetryOptions. Each call has
/// an overload that takes a completion and returns immediately; if a token has to be fetched first, another
/// thread fetches it.
///
/// Writes never drop fields that a type does not declare: they are server-side apply or merge patches
/// computed from the object as read. Warnings of the server are logged, each distinct message once.
/// Thread safety: all members may be called concurrently.
/// Blocks: must not be called on the transport's thread, that is, in a completion.
class EVENKEEL_API Client {
 public:
  /// Throws std::invalid_argument if `config.server` is not a URL.
  explicit Client(Config config, ClientOptions options = {});

  /// Returns a client that applies these options to every call.
  [[nodiscard]] Client with(CallOptions options) const;
  const CallOptions& call_options() const noexcept { return call_; }
  const Config& config() const noexcept;
  const std::shared_ptr<const Clock>& clock() const noexcept;
  const std::shared_ptr<http::Transport>& transport() const noexcept;
  const Log& log() const noexcept;
  /// Metrics of the requests of this client and its copies; see client/request_meter.hpp.
  const std::shared_ptr<RequestMeter>& meter() const noexcept;
  /// For controllers: the last writes of this client and its copies.
  const std::shared_ptr<detail::WriteLog>& writes() const noexcept;
  /// Returns a client for objects of one kind without a C++ type; see client/resource_client.hpp.
  ResourceClient resource(ResourceId id) const;

  // ---- Reads ----

  /// Returns the object; throws ApiError if it does not exist.
  template <ObjectType T>
  Snapshot<T> get(const ObjectKey& key) const {
    return decode<T>(object_request(http::Method::get, T::resource, key));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> get(const ObjectKey& key, Completion<Snapshot<T>> done) const {
    return start<T>(object_request(http::Method::get, T::resource, key), std::move(done));
  }

  /// Returns the object, or an empty snapshot if it does not exist. Throws ApiError if the server does not
  /// serve the kind.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) const {
    const auto response = find_raw(object_request(http::Method::get, T::resource, key));
    return response ? snapshot<T>(std::move(response->body), object_name(T::resource, key)) : Snapshot<T>();
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> find(const ObjectKey& key, Completion<Snapshot<T>> done) const {
    return raw(
        object_request(http::Method::get, T::resource, key),
        [done = std::move(done), what = object_name(T::resource, key)](Outcome<http::Response> outcome) {
          if (is_absent(outcome)) return done(Snapshot<T>());
          done(decoded<Snapshot<T>>(std::move(outcome), [&what](http::Response& response) {
            return snapshot<T>(std::move(response.body), what);
          }));
        });
  }

  /// Lists all objects that the options select, page by page. Consistent: all pages show the same revision;
  /// if that expires on the server in between, the whole list is read again in one request.
  template <ObjectType T>
  List<T> list(const ListOptions& options = {}) const {
    return typed<T>(list_raw(T::resource, options));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> list(const ListOptions& options, Completion<List<T>> done) const {
    return list_raw(T::resource, options, [done = std::move(done)](Outcome<RawList> outcome) {
      done(decoded<List<T>>(std::move(outcome), [](RawList& list) { return typed<T>(std::move(list)); }));
    });
  }

  // ---- Writes ----

  /// Creates the object; if it has a generate_name instead of a name, the server chooses the name.
  template <ObjectType T>
  Snapshot<T> create(const T& object) const {
    return decode<T>(create_request(T::resource, object.metadata, to_json(object)));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> create(const T& object, Completion<Snapshot<T>> done) const {
    return start<T>(create_request(T::resource, object.metadata, to_json(object)), std::move(done));
  }

  /// Replaces the whole object; fails with a conflict if it was written since it was read.
  template <ObjectType T>
  Snapshot<T> update(const T& object) const {
    static_assert(CompleteType<T>, EVENKEEL_PP_UPDATE_HINT);
    return decode<T>(update_request(T::resource, key_of(object), to_json(object)));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> update(const T& object, Completion<Snapshot<T>> done) const {
    static_assert(CompleteType<T>, EVENKEEL_PP_UPDATE_HINT);
    return start<T>(update_request(T::resource, key_of(object), to_json(object)), std::move(done));
  }

  /// Sends the changes made by `edit`; sends no request if there are none. Fields that the type does not
  /// declare are preserved, also inside lists; a change that touches a list fails with a conflict if the
  /// object was written since it was read. The server ignores status changes for kinds with a status
  /// subresource.
  template <ObjectType T, class Edit>
  requires(!std::same_as<Edit, Patch>) Snapshot<T> patch(const Snapshot<T>& object, Edit edit)
  const {
    static_assert(detail::CheckedEdit<Edit, T>::passed);
    T after = require(object);
    edit(after);
    const auto response = send_edit({type_info<T>(), object.get(), &after, object.raw(), ""});
    return response ? snapshot<T>(std::move(response->body), object_name(T::resource, key_of(*object)))
                    : object;
  }
  template <ObjectType T, class Edit>
  requires(!std::same_as<Edit, Patch>) std::shared_ptr<http::Call> patch(const Snapshot<T>& object, Edit edit,
                                                                         Completion<Snapshot<T>> done)
  const {
    static_assert(detail::CheckedEdit<Edit, T>::passed);
    T after = require(object);
    edit(after);
    return start_edit<T>(object, after, "", std::move(done));
  }

  /// Patches only the status; like patch(), but `edit` gets a reference to the status. Plain members of the
  /// status count as set, even if the edit leaves them at their defaults: those missing on the server are
  /// sent along, once. Optional members are sent only if set.
  template <ObjectType T, class Edit>
  Snapshot<T> patch_status(const Snapshot<T>& object, Edit edit) const {
    static_assert(detail::CheckedStatusEdit<Edit, T>::passed);
    T after = require(object);
    edit_status(after, edit);
    const auto response = send_edit({type_info<T>(), object.get(), &after, object.raw(), "status"});
    return response ? snapshot<T>(std::move(response->body), object_name(T::resource, key_of(*object)))
                    : object;
  }
  template <ObjectType T, class Edit>
  std::shared_ptr<http::Call> patch_status(const Snapshot<T>& object, Edit edit,
                                           Completion<Snapshot<T>> done) const {
    static_assert(detail::CheckedStatusEdit<Edit, T>::passed);
    T after = require(object);
    edit_status(after, edit);
    return start_edit<T>(object, after, "status", std::move(done));
  }

  /// Sends `patch` as it is.
  template <ObjectType T>
  Snapshot<T> patch(const ObjectKey& key, Patch patch, const PatchOptions& options = {}) const {
    return decode<T>(patch_request(T::resource, key, std::move(patch), options));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> patch(const ObjectKey& key, Patch patch, const PatchOptions& options,
                                    Completion<Snapshot<T>> done) const {
    return start<T>(patch_request(T::resource, key, std::move(patch), options), std::move(done));
  }

  /// Server-side apply: creates the object if it does not exist, and makes the bound field owner own exactly
  /// the fields set in `object`.
  template <ObjectType T>
  Snapshot<T> apply(const T& object, const ApplyOptions& options = {}) const {
    return decode<T>(apply_request(T::resource, type_info<T>(), &object, "", options));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> apply(const T& object, const ApplyOptions& options,
                                    Completion<Snapshot<T>> done) const {
    return start<T>(apply_request(T::resource, type_info<T>(), &object, "", options), std::move(done));
  }
  /// Like apply(), for the status only; no other part of `object` is sent.
  template <ObjectType T>
  Snapshot<T> apply_status(const T& object, const ApplyOptions& options = {}) const {
    return decode<T>(apply_request(T::resource, type_info<T>(), &object, "status", options));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> apply_status(const T& object, const ApplyOptions& options,
                                           Completion<Snapshot<T>> done) const {
    return start<T>(apply_request(T::resource, type_info<T>(), &object, "status", options), std::move(done));
  }

  /// Deletes the object; succeeds if it does not exist.
  template <ObjectType T>
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) const {
    remove_object(T::resource, key, options);
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> remove(const ObjectKey& key, const DeleteOptions& options,
                                     Completion<std::monostate> done) const {
    return remove_object(T::resource, key, options, std::move(done));
  }
  /// Deletes all objects that `which` selects, within one namespace for namespaced kinds.
  template <ObjectType T>
  void remove_all(const ListOptions& which, const DeleteOptions& options = {}) const {
    raw(remove_all_request(T::resource, which, options));
  }
  template <ObjectType T>
  std::shared_ptr<http::Call> remove_all(const ListOptions& which, const DeleteOptions& options,
                                         Completion<std::monostate> done) const {
    return raw(remove_all_request(T::resource, which, options), [done = std::move(done)](
                                                                    Outcome<http::Response> outcome) {
      done(decoded<std::monostate>(std::move(outcome), [](http::Response&) { return std::monostate(); }));
    });
  }

  /// Reads or sets the desired number of replicas.
  template <ObjectType T>
  Scale scale(const ObjectKey& key) const {
    return read_scale(raw(scale_request(T::resource, key, std::nullopt)), object_name(T::resource, key));
  }
  template <ObjectType T>
  Scale scale(const ObjectKey& key, std::int64_t replicas) const {
    return read_scale(raw(scale_request(T::resource, key, replicas)), object_name(T::resource, key));
  }
  /// Only reads if `replicas` is not set.
  template <ObjectType T>
  std::shared_ptr<http::Call> scale(const ObjectKey& key, std::optional<std::int64_t> replicas,
                                    Completion<Scale> done) const {
    return raw(
        scale_request(T::resource, key, replicas),
        [done = std::move(done), what = object_name(T::resource, key)](Outcome<http::Response> outcome) {
          done(decoded<Scale>(std::move(outcome),
                              [&what](http::Response& response) { return read_scale(response, what); }));
        });
  }

  // ---- Untyped calls ----

  /// Sends the request with credentials, deadline and retries. Throws ApiError for any status other than 2xx.
  http::Response raw(const RestRequest& request) const;
  std::shared_ptr<http::Call> raw(const RestRequest& request, http::Completion done) const;
  /// Like raw(), but returns nullopt if the object does not exist.
  std::optional<http::Response> find_raw(const RestRequest& request) const;
  RawList list_raw(const ResourceId& resource, const ListOptions& options) const;
  std::shared_ptr<http::Call> list_raw(const ResourceId& resource, const ListOptions& options,
                                       Completion<RawList> done) const;
  /// Starts a stream with credentials. Every status is passed to the handler; nothing is retried; of the
  /// bound options, only the deadline applies.
  std::shared_ptr<http::Call> stream(const RestRequest& request,
                                     std::shared_ptr<http::StreamHandler> handler) const;
  /// Waits for `delay`, changed by a random fraction of up to `jitter`; throws Cancelled if the bound stop
  /// token is triggered, and TransportError with `timeout` if the bound deadline would pass.
  void pause(Duration delay, double jitter = 0) const;

 private:
  friend class ResourceClient;

  /// A typed object before and after an edit.
  struct Edited {
    const TypeInfo& type;
    const void* before;
    const void* after;
    std::string_view raw;  // the document `before` was decoded from, or empty
    std::string subresource;
  };

  Client(std::shared_ptr<detail::ClientState> state, CallOptions call);

  static std::string object_name(const ResourceId& resource, const ObjectKey& key);
  static bool is_absent(const Outcome<http::Response>& outcome);
  static Scale read_scale(const http::Response& response, const std::string& what);
  static void refuse_empty();
  static std::shared_ptr<http::Call> nothing_to_cancel();
  RestRequest object_request(http::Method method, const ResourceId& resource, const ObjectKey& key,
                             std::string subresource = {}) const;
  RestRequest create_request(const ResourceId& resource, const ObjectMeta& metadata, std::string body) const;
  RestRequest update_request(const ResourceId& resource, const ObjectKey& key, std::string body) const;
  RestRequest patch_request(const ResourceId& resource, const ObjectKey& key, Patch patch,
                            const PatchOptions& options) const;
  RestRequest apply_request(const ResourceId& resource, const TypeInfo& type, const void* object,
                            std::string subresource, const ApplyOptions& options) const;
  RestRequest remove_request(const ResourceId& resource, const ObjectKey& key,
                             const DeleteOptions& options) const;
  RestRequest remove_all_request(const ResourceId& resource, const ListOptions& which,
                                 const DeleteOptions& options) const;
  RestRequest scale_request(const ResourceId& resource, const ObjectKey& key,
                            std::optional<std::int64_t> replicas) const;
  void remove_object(const ResourceId& resource, const ObjectKey& key, const DeleteOptions& options) const;
  std::shared_ptr<http::Call> remove_object(const ResourceId& resource, const ObjectKey& key,
                                            const DeleteOptions& options,
                                            Completion<std::monostate> done) const;
  void mark_write(RestRequest& request) const;
  TimePoint call_deadline() const;

  /// Returns nullopt if the edit changed nothing.
  std::optional<http::Response> send_edit(const Edited& edited) const;
  std::shared_ptr<http::Call> send_edit(const Edited& edited,
                                        Completion<std::optional<http::Response>> done) const;

  template <class T>
  static const T& require(const Snapshot<T>& object) {
    if (!object) refuse_empty();
    return *object;
  }

  template <class T, class Edit>
  static void edit_status(T& object, Edit& edit) {
    if constexpr (std::invocable<Edit&, decltype(object.status)&>) {
      edit(object.status);
    } else {  // an optional status, and an edit that takes its value
      if (!object.status) object.status.emplace();
      edit(*object.status);
    }
  }

  template <ObjectType T>
  static Snapshot<T> snapshot(std::string body, const std::string& what) {
    auto kept = std::make_shared<const std::string>(std::move(body));
    T value = from_json<T>(*kept, what);
    const std::string_view text = *kept;
    return Snapshot<T>(std::move(value), text, std::move(kept));
  }

  template <ObjectType T>
  static List<T> typed(RawList raw) {
    List<T> list{.resource_version = std::move(raw.resource_version),
                 .continue_token = std::move(raw.continue_token)};
    list.items.reserve(raw.items.size());
    for (std::size_t body = 0; body < raw.bodies.size(); ++body) {
      for (std::size_t i = list.items.size(); i < raw.ends[body]; ++i) {
        list.items.emplace_back(from_json<T>(raw.items[i], T::resource.plural), raw.items[i],
                                raw.bodies[body]);
      }
    }
    return list;
  }

  template <ObjectType T>
  Snapshot<T> decode(const RestRequest& request) const {
    return snapshot<T>(raw(request).body, object_path(request));
  }

  template <ObjectType T>
  std::shared_ptr<http::Call> start(const RestRequest& request, Completion<Snapshot<T>> done) const {
    return raw(request,
               [done = std::move(done), what = object_path(request)](Outcome<http::Response> outcome) {
                 done(decoded<Snapshot<T>>(std::move(outcome), [&what](http::Response& response) {
                   return snapshot<T>(std::move(response.body), what);
                 }));
               });
  }

  template <ObjectType T>
  std::shared_ptr<http::Call> start_edit(const Snapshot<T>& object, const T& after, const char* subresource,
                                         Completion<Snapshot<T>> done) const {
    return send_edit({type_info<T>(), object.get(), &after, object.raw(), subresource},
                     [done = std::move(done), object](Outcome<std::optional<http::Response>> outcome) {
                       using Response = std::optional<http::Response>;
                       done(decoded<Snapshot<T>>(std::move(outcome), [&object](Response& response) {
                         if (!response) return object;
                         return snapshot<T>(std::move(response->body),
                                            object_name(T::resource, key_of(*object)));
                       }));
                     });
  }

  /// Applies `decode`, which may throw, to the outcome.
  template <class To, class From, class Decode>
  static Outcome<To> decoded(Outcome<From> outcome, Decode decode) {
    if (!outcome.ok()) return Outcome<To>(outcome.error());
    try {
      return Outcome<To>(decode(outcome.value()));
    } catch (...) {
      return Outcome<To>(std::current_exception());
    }
  }

  std::shared_ptr<detail::ClientState> state_;
  CallOptions call_;
};

#undef EVENKEEL_PP_UPDATE_HINT

}  // namespace v0
}  // namespace evenkeel
