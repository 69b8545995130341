// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// The openb cluster and its default workload (Alibaba; Weng et al., ATC 2023) in rounded
/// statistics: machine kinds by their fraction of the GPUs, task shapes by their frequency. Rare
/// shapes are merged into the nearest frequent one.
namespace berth::generate {

struct OpenbMachine {
  std::string_view gpu_type;
  std::int32_t gpus;
  std::int64_t cores, memory_gib;
  std::int64_t gpu_permille;  ///< of the cluster's GPUs; the first kind takes the remainder
};
inline constexpr std::array<OpenbMachine, 10> kOpenbMachines{{
    {"G2", 8, 96, 384, 707},
    {"T4", 2, 104, 512, 125},
    {"T4", 4, 96, 384, 11},
    {"G3", 8, 128, 768, 50},
    {"P100", 2, 16, 120, 36},
    {"P100", 2, 64, 256, 7},
    {"V100M32", 8, 96, 768, 33},
    {"V100M16", 4, 32, 128, 18},
    {"V100M16", 8, 64, 256, 10},
    {"V100M16", 1, 8, 32, 3},
}};

struct OpenbPod {
  std::int64_t milli;  ///< GPU thousandths: 0 = CPU only, below 1000 = a share
  std::int64_t cores, memory_gib;
  double weight;  ///< relative frequency, of about ten thousand
};
inline constexpr std::array<OpenbPod, 54> kOpenbPods{{
    {0, 8, 32, 210},     {0, 12, 56, 450},     {0, 15, 48, 150},    {0, 16, 48, 130},
    {0, 16, 32, 30},     {0, 32, 48, 360},     {100, 2, 8, 40},     {160, 4, 16, 65},
    {160, 6, 20, 25},    {220, 4, 16, 40},     {220, 8, 32, 40},    {230, 4, 32, 170},
    {320, 4, 16, 110},   {320, 4, 24, 150},    {320, 4, 32, 55},    {320, 8, 32, 95},
    {370, 4, 8, 60},     {460, 6, 6, 60},      {460, 6, 12, 100},   {470, 8, 32, 450},
    {470, 12, 48, 470},  {550, 4, 8, 90},      {590, 3, 5, 90},     {650, 8, 32, 15},
    {650, 12, 48, 295},  {810, 3, 5, 1280},    {810, 4, 8, 40},     {1000, 3, 5, 600},
    {1000, 4, 24, 130},  {1000, 4, 32, 60},    {1000, 8, 16, 140},  {1000, 8, 32, 120},
    {1000, 10, 40, 250}, {1000, 11, 48, 1760}, {1000, 11, 76, 85},  {1000, 12, 16, 190},
    {1000, 12, 24, 200}, {1000, 12, 48, 210},  {1000, 12, 76, 65},  {1000, 14, 56, 120},
    {1000, 15, 80, 45},  {1000, 16, 32, 140},  {1000, 16, 56, 200}, {1000, 16, 64, 40},
    {1000, 16, 124, 35}, {1000, 19, 64, 320},  {1000, 24, 92, 110}, {2000, 6, 64, 6},
    {2000, 16, 64, 14},  {4000, 32, 128, 15},  {4000, 60, 312, 4},  {8000, 64, 256, 26},
    {8000, 88, 320, 24}, {8000, 120, 720, 4},
}};

}  // namespace berth::generate
