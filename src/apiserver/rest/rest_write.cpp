// SPDX-License-Identifier: Apache-2.0
// POST and PUT.
#include <utility>

#include "apiserver/request/request_body.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

http::Response rest_create(Storage& storage, Call& call) {
  const WriteOptions options = write_options(call, "CreateOptions");
  Json object = object_from_body(call, options.validation);
  if (call.type->terminating)
    throw StatusError::forbidden(call.type->resource(), object.at({"metadata", "name"}).string_or(""),
                                 "create not allowed while custom resource definition is terminating");
  return write_response(call, 201,
                        create_object(storage, call, std::move(object), options, Tracking::needed));
}

http::Response rest_update(Storage& storage, Call& call) {
  const WriteOptions options = write_options(call, "UpdateOptions");
  Json object = object_from_body(call, options.validation);
  check_namespace(call, object);
  check_name(call, object);
  const StoredPtr live = storage.store.find(call.collection(), call.key());
  if (!live && (!call.type->rules.create_on_update || !call.path.subresource.empty()))
    throw StatusError::not_found(call.type->resource(), call.path.name);
  check_uid(call, object, live);
  if (!live)
    return write_response(call, 201,
                          create_object(storage, call, std::move(object), options, Tracking::needed));
  return write_response(call, 200,
                        update_object(storage, call, live, std::move(object), options, call.path.subresource,
                                      Tracking::needed));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
