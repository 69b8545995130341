// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

namespace berth::parallel {

template <class Signature>
class FunctionRef;

/// Non-owning reference (two pointers) to a function object, which must outlive it. Keeps TBB and
/// OpenMP out of public headers: these call through it, once per task or chunk.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef> &&
           std::is_invocable_r_v<Result, Function&, Arguments...>)
      FunctionRef(Function&& function)  // NOLINT: implicit, so that lambdas convert
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::add_pointer_t<Function>>(object))(arguments...);
        }) {}

  Result operator()(Arguments... arguments) const { return call_(object_, arguments...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace berth::parallel
