// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/papers/randomised_rounding.hpp"
#include "berth/speed/layered_overlap.hpp"

/// Scheduling of training jobs with workers and parameter servers by utility of completion, as SMD
/// states it (Yu, Wu, Ji and Liu, INFOCOM 2021): which jobs to admit, and how many workers and
/// servers each gets within what it reserves. No places, no slots.
namespace berth::papers::smd {

/// A job. Amounts of resources are in any unit, one a resource.
struct SmdJob {
  speed::OverlapJob speed = {};
  double iterations = 1.0;              ///< E, > 0
  std::vector<double> worker, server;   ///< O^r, G^r >= 0: demand of one
  std::vector<double> limit;            ///< v^r: what the job reserves, and may use
  double c1 = 1.0, c2 = 0.0, c3 = 0.0;  ///< utility of time, speed::sigmoid_of_time

  /// Utility of completion after so many seconds. @param time_unit  seconds; infinite time: 0
  [[nodiscard]] double utility(double seconds, double time_unit) const;
};

/// w workers and p servers; 0 and 0: the limit holds not even one of each.
struct Crew {
  std::int64_t workers = 0, servers = 0;

  bool operator==(const Crew&) const = default;
};

/// Seconds to completion E / f(p, w). Infinite without workers.
[[nodiscard]] double completion_seconds(const SmdJob& job, double workers, double servers);
[[nodiscard]] inline double completion_seconds(const SmdJob& job, const Crew& crew) {
  return completion_seconds(job, static_cast<double>(crew.workers),
                            static_cast<double>(crew.servers));
}

/// O w + G p <= v, both at least 1.
[[nodiscard]] bool within_limit(const SmdJob& job, const Crew& crew);

/// The coefficients theta of the completion time (equations of section IV):
/// synchronous  theta1 w + theta2 p + theta3 + theta4 w / p + theta5 / w,
/// asynchronous theta1 + theta2 p / w + theta3 / w + theta4 / p.
struct InnerCoefficients {
  double theta1 = 0.0, theta2 = 0.0, theta3 = 0.0, theta4 = 0.0, theta5 = 0.0;
  bool synchronous = true;

  [[nodiscard]] double seconds(double workers, double servers) const;
};
[[nodiscard]] InnerCoefficients coefficients(const SmdJob& job);

/// The fastest whole numbers within the limit, exact: the time is convex in p for each w, with
/// its least at sqrt(theta4 w / theta2). O(w_max)
[[nodiscard]] Crew fastest_crew(const SmdJob& job);

/// Real numbers of workers and servers.
struct RealCrew {
  double workers = 1.0, servers = 1.0;
};

/// Algorithm 1: fastest real numbers within the limit, within a factor 1 + epsilon on the ratios.
/// All ratios but one are held below the points of a geometric grid; the last is least at a corner
/// of the remaining polygon. The grid ends with the ratio's maximum (the printed one stops short
/// of it), and candidates compare by their true time. O((ln(max / min) / epsilon)^2) polygons.
/// Nothing if not even one of each fits. @throws InputError: epsilon 0 or less
[[nodiscard]] std::optional<RealCrew> sum_of_ratios(const SmdJob& job, double epsilon);

/// Algorithm 2: the rounding of gain x crew that the limit holds; after the last attempt the floor,
/// at least 1.
[[nodiscard]] Crew round_crew(const SmdJob& job, const RealCrew& crew, const RoundingTries& tries);

/// What Optimus adds a worker or a server for. Utility falls with time, so both have one order of
/// gains; but doubles of the utility are flat far behind the target time.
enum class OptimusGain : std::uint8_t { utility, seconds };

/// Optimus's greedy (Peng et al., EuroSys 2018) as SMD compares to it: from one of each, adds the
/// worker or the server that gains more (ties: the server) while one gains. O(w_max + p_max)
/// @throws InputError: time_unit 0 or less
[[nodiscard]] Crew optimus_crew(const SmdJob& job, OptimusGain gain, double time_unit);

/// ESW: as many workers as servers, as many as the limit holds.
[[nodiscard]] Crew equal_crew(const SmdJob& job);

}  // namespace berth::papers::smd
