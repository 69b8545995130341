// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "berth/io/import_profiles.hpp"

namespace berth::io {
namespace {

constexpr std::array kProfileFormats{
    ProfileFormat{"elasticflow-profiles", "ElasticFlow: iterations/s by batch and GPUs",
                  "folder of <model>.csv", "A100", import_elasticflow_profiles},
    ProfileFormat{"gavel-profiles", "Gavel: steps/s by job type, GPU type and GPUs",
                  "simulation_throughputs.json", "", import_gavel_profiles},
    ProfileFormat{"pollux-profiles", "Pollux: times of an iteration and training curves",
                  "folder with one folder for each application", "", import_pollux_profiles},
};

}  // namespace

std::span<const ProfileFormat> profile_formats() { return kProfileFormats; }

}  // namespace berth::io
