// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/horizon/timeline.hpp"

/// Baselines: schedulers as clusters run them, on timelines of pools or of machines. They know all
/// durations. A job takes the option and pool with the earliest start; ties: shorter duration,
/// option, pool.
namespace berth::policy {

/// Jobs by release, then id: the order of a queue.
std::vector<JobId> arrival_order(const horizon::Problem& problem);

/// Jobs by shortest duration, then release and id.
std::vector<JobId> shortest_first(const horizon::Problem& problem);

/// Weighted shortest processing time: the cost of a second's delay per GPU-second, descending, then
/// id (Smith 1956). `delay` seconds are what a delay is measured over.
std::vector<JobId> weighted_shortest_first(const horizon::Problem& problem, horizon::Seconds delay);

/// FIFO: no job starts before one ahead of it. O(jobs x search).
horizon::Plan fifo(const horizon::Problem& problem, horizon::Timeline& timeline,
                   std::span<const JobId> order);

/// Conservative backfill: every job gets a reservation when it is queued, which no later job delays
/// (Mu'alem and Feitelson 2001). With exact durations that is list scheduling by earliest start.
horizon::Plan conservative_backfill(const horizon::Problem& problem, horizon::Timeline& timeline,
                                    std::span<const JobId> order);

/// List scheduling by least cost: each job at the option and start that complete it cheapest.
horizon::Plan cheapest_list(const horizon::Problem& problem, horizon::Timeline& timeline,
                            std::span<const JobId> order);

/// EASY backfill: at every release and completion the queue's head starts if it can; else it gets a
/// reservation, and later jobs start now if they do not delay it (Lifka 1995).
/// O((jobs + completions) x queue) at worst; jobs larger than what is free cost O(1).
horizon::Plan easy_backfill(const horizon::Problem& problem, horizon::Timeline& timeline,
                            std::span<const JobId> order);

/// At every release and completion, each queued job in order starts if it can: no reservations.
horizon::Plan first_fit(const horizon::Problem& problem, horizon::Timeline& timeline,
                        std::span<const JobId> order);

}  // namespace berth::policy
