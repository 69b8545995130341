// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/model/resources.hpp"

namespace berth::model {

/// A plan file as read: unchecked names and numbers. The reader (`io`) checks types only; the judge
/// (`certify`) checks that names exist, indices are in range and figures are right. Lists keep the
/// order of the file, with repeats. Members whose absence the judge reports by name are optional.

struct RawDevice {
  std::int64_t index = 0;  ///< any integer
  std::int64_t milli = 0;  ///< any integer
};

struct RawTask {
  std::string shape;  ///< label of the task group ("worker")
  std::string machine;
  std::vector<RawDevice> gpus;  ///< empty for a CPU-only task
  Resources needs = {};         ///< any integers
};

struct RawPlacement {
  std::string job;
  std::int64_t start = 0;
  std::vector<RawTask> tasks;
};

struct RawUnplacedJob {
  std::string job;
  std::string reason;
  std::optional<std::int64_t> earliest_start = {};  ///< of a plan with a horizon
};

struct RawPoolPrice {
  std::string pod;
  std::optional<std::string> rack;  ///< present when pools are by rack
  std::string machine_class;
  std::int64_t gpu_milli = 0;
  Resources unit_price = {};
};
struct RawShapePrice {
  Resources needs = {};
  std::int64_t gpus = 0;
  std::int64_t gpu_milli = 0;
  std::string gpu_type;  ///< empty: on machines without GPUs
  std::int64_t price = 0;
};
struct RawGangPrice {
  RawShapePrice task;  ///< its price is the gang's
  std::int64_t tasks = 0;
};
struct RawClassMultiplier {
  std::string machine_class;
  Resources unit_price = {};
};
struct RawJobPrice {
  std::string job;
  std::int64_t price = 0;
};

struct RawLimitPrice {
  std::string limit = {};  ///< key of a row of kLimitRows in a sound file
  std::optional<std::string> queue = {}, pod = {}, rack = {};  ///< one of them in a sound file
  std::optional<std::string> gpu_type = {};                    ///< of spare GPUs only
  std::int64_t price = 0;
};

struct RawSpotSet {
  std::optional<std::string> gpu_type, pod, rack, width;
};
struct RawPriceChange {
  std::int64_t position = 0;
  std::int64_t price = 0;
};
struct RawTreeNode {
  std::optional<std::int64_t> parent;
  std::optional<std::string> split;
  bool out = false, rest = false;
  std::vector<RawSpotSet> spots = {};
  std::vector<RawPriceChange> changes = {};
};

struct RawWholeJobs {
  std::string within;  ///< "cluster" or "home_racks" in a sound file
  std::int64_t gpu_milli = 0;
};

/// Prices as in Certificate, with places and types by name.
struct RawCertificate {
  std::int64_t scale_log2 = 0;
  std::string level;  ///< "rack" or "pod" in a sound file
  std::vector<RawPoolPrice> pools;
  std::vector<RawShapePrice> shapes;
  std::vector<RawClassMultiplier> multipliers;
  std::vector<RawJobPrice> jobs = {};
  std::vector<RawLimitPrice> limits = {};
  std::optional<RawWholeJobs> whole_jobs = {};
  std::vector<RawTreeNode> tree = {};
  std::vector<RawGangPrice> gangs = {};
  std::int64_t search_steps = 0;
};

struct RawFigures {
  std::optional<double> objective;
  std::optional<double> upper_bound;
  std::optional<double> gap;  ///< a fraction
  std::optional<std::int64_t> gpus_total;
  std::optional<std::int64_t> gpu_milli_total;
  std::optional<std::int64_t> gpu_milli_allocated;
  std::optional<std::int64_t> jobs_total;
  std::optional<std::int64_t> jobs_placed;
};

/// `gap_parts`, each number under a name of its own: "regret of 8 GPUs", "idle A100", "quotas".
struct RawGapParts {
  std::string basis;
  std::map<std::string, double> amounts;
};

struct RawPriorityClass {
  std::int64_t priority = 0;
  RawFigures figures;  ///< `objective` is the value of the class; only jobs are counted
  std::vector<std::int64_t> weights_log2 = {};
  std::optional<RawCertificate> certificate;
};

/// A round of the plan's making, as told: nobody judges it.
struct RawRound {
  double objective = 0.0;
  double upper_bound = 0.0;
};

struct RawPlan {
  std::optional<std::string> instance_digest;
  std::optional<std::string> plan_digest;
  std::optional<std::string> proof_digest;
  std::optional<std::uint64_t> seed;
  std::optional<bool> reproducible;
  std::optional<std::string> objective_kind;    ///< the name of an Objective in a sound file
  std::optional<std::string> objective_option;  ///< options.objective
  RawFigures figures;
  std::optional<RawGapParts> gap_parts;
  std::optional<std::vector<std::string>> required_missing;  ///< jobs
  std::optional<RawCertificate> certificate;
  std::vector<RawPriorityClass> classes = {};  ///< empty: not planned by priority
  std::vector<RawRound> rounds = {};
  std::vector<RawPlacement> placements;
  std::vector<RawUnplacedJob> waiting;
};

}  // namespace berth::model
