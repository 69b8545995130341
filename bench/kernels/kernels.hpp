// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "instances.hpp"

#include <string>

#include <benchmark/benchmark.h>

namespace berth::bench {

using MakeSubject = const Subject& (*)();
using Kernel = void (*)(benchmark::State&, const Subject&);

/// Registers "name/instance", wall time in ms. The instance is made when the kernel first runs.
void add(const char* name, Kernel kernel, const std::string& instance, MakeSubject subject);

/// Register the kernels of one file each.
void register_memory();
void register_market(const std::string& instance, MakeSubject subject);
void register_pack();
void register_price_round();
void register_certify(const std::string& instance, MakeSubject subject);
void register_text(const std::string& instance, MakeSubject subject);

}  // namespace berth::bench
