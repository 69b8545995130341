// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/certify/job_bests.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// What all jobs (model::planned_jobs) can do at best at rank 0's prices, as the judge says: every
/// rank asks it for the jobs it has (of a whole instance for as many as the others), and rank 0
/// for the rest and puts the answers together; empty elsewhere. Collective. Messages: the prices to
/// all, 68 B a job to rank 0.
certify::JobBests job_bests(const comm::Communicator& comm, const model::Instance& instance,
                            model::Objective objective, const model::Certificate& certificate);

}  // namespace berth::pipeline
