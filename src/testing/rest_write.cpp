// SPDX-License-Identifier: Apache-2.0
// POST and PUT.
#include <utility>

#include "testing/request_body.hpp"
#include "testing/rest.hpp"
#include "testing/write.hpp"

namespace evenkeel::inline v0::testing {

http::Response rest_create(Server& server, Call& call) {
  const WriteOptions options = write_options(call, "CreateOptions");
  Json object = object_from_body(call, options.validation);
  if (call.type->terminating)
    throw StatusError::forbidden(call.type->resource(), object.at({"metadata", "name"}).string_or(""),
                                 "create not allowed while custom resource definition is terminating");
  return write_response(call, 201, create_object(server, call, std::move(object), options, Tracking::needed));
}

http::Response rest_update(Server& server, Call& call) {
  const WriteOptions options = write_options(call, "UpdateOptions");
  Json object = object_from_body(call, options.validation);
  check_namespace(call, object);
  check_name(call, object);
  const StoredPtr live = server.store.find(*call.type->collection, call.key());
  if (!live && (!call.type->rules.create_on_update || !call.path.subresource.empty()))
    throw StatusError::not_found(call.type->resource(), call.path.name);
  if (!live)
    return write_response(call, 201,
                          create_object(server, call, std::move(object), options, Tracking::needed));
  check_uid(call, object, *live);
  return write_response(
      call, 200,
      update_object(server, call, live, std::move(object), options, call.path.subresource, Tracking::needed));
}

}  // namespace evenkeel::inline v0::testing
