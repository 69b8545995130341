// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// A proved upper bound. `exact` and the two terms are in units of 2^-scale_log2.
struct Bound {
  Int128 exact = 0;
  std::int32_t scale_log2 = 0;
  double value = 0.0;   ///< `exact` as a double, never below it
  Int128 machines = 0;  ///< first term: sum over pools of N mu
  Int128 jobs = 0;      ///< second term: sum over jobs of their best net value
  /// devices and prices of jobs at the leaf with the largest sum; part of both terms
  Int128 leaf = 0;
  /// capacity of all limits at their prices; with Certificate::whole_jobs `chosen` in place of
  /// quotas
  Int128 shared = 0;
  Int128 chosen = 0;            ///< most that whole jobs earn within the quotas and the cluster
  std::int64_t free_milli = 0;  ///< GPU thousandths of all machines
  Int128 zero_price = 0;        ///< the bound at zero prices: every job at its best option
  Int128 capacity = 0;          ///< allocate: all free GPU thousandths; otherwise unused
  /// of the search over all placements, less stop costs; unset without one
  std::optional<Int128> search = {};
};

/// Upper bound on the objective of every plan that places at least `required_placed`, for any
/// non-negative prices (weak duality, so the prices need not come from a trusted solver):
///
///   UB = sum_p N_p mu_p + sum_l room_l lambda_l + sum_q room_q theta_q
///                       + sum_{j free} max(out_j, max_k [u_jk - C_jk])
///                       + sum_{j in required_placed} max_k [u_jk - C_jk]
///
/// **Tasks.** A task of shape s in pool p costs
///   pi_ps = gpu_p milli_ps + sum_r price_pr need_sr + shape[s][type of p],
/// where milli_ps are the GPU thousandths that the task takes there: its request or, on a class
/// whose GPUs are cut into slices, those of the fewest slices that cover its share. r runs over the
/// resources of model::kResourceTable (CPU, memory, ...).
///
/// **Machines.** mu_p = min(by multipliers, by contents) bounds the priced content of one machine
/// of class c. Machines of a pool with different immovable content are distinguished: room_cr and
/// the devices below are the free ones of such a machine (G devices entirely, others in part), and
/// a machine that is not up earns 0. The tasks on it satisfy sum need_sr <= room_cr for each
/// resource r. With the class multipliers a_r (price_pr = a_r = 0 where the class has no limit of
/// r) and profit_ps = gpu_p milli_ps + shape[s][type] - sum_r a_r need_sr
///   by multipliers = sum_r (price_pr + a_r) room_cr + V(G) + sum_{partly free} v1 + cpu_only
///   v1(w)    = largest profit of single-device tasks on w thousandths of one device (unbounded
///              knapsack, step = gcd of the shares), at least 0
///   V(0) = 0,  V(g) = max(V(g-1) + v1(1000), V(g-k) + profit of a k-device task)
///   cpu_only = min over the orders of the resources with a limit of A(order), over shapes
///              without GPUs of positive profit, with A = sum over the resources in that order of
///              the machine's amount times the largest profit_s / need_s of the shapes that need
///              it and none before it, quotients rounded up, an empty maximum 0; a shape that needs
///              no resource with a limit counts once per task of the workload.
///   by contents = largest sum_s q_s pi_ps of a content q that the machine has devices and room_cr
///              for, with at most as many tasks of a shape of whole GPUs or without GPUs as the
///              workload has; an integer knapsack, solved exactly within a counted amount of work
///              (at most 4000 labels a machine and 200000 in all). Beyond it the least bound found
///              counts: of a relaxation that rounds needs down or has multipliers of its own in
///              place of a_r, or of the contents not yet excluded.
/// Contents are bounded where a resource can bind or has a price, and no job has a job price: whole
/// jobs need V by the number of devices, which only multipliers give.
/// A job whose several tasks must be on one machine and take whole GPUs or none counts as one task
/// with the sum of their needs. A job with shares does not: other shares may use its devices, so no
/// whole device may be subtracted from V for it.
///
/// **Jobs with job prices** y_j (whole GPUs only) leave the last two sums. They pay y_j and are
/// then chosen or not, as whole jobs, at any place of larger value:
///   UB = sum_p N_p (by multipliers - V_p(G)) + sum_types F_t(all GPUs) + sum_{j listed} y_j
///      + sums over others
///   F_rack(g)    = max of: V on the machines' devices not taken, plus u_j(width <= rack, distance
///                  of this rack) - y_j over a set of listed jobs, all in at most g GPUs
///   F_pod(g)     = max over g_1 + g_2 + .. = rest of sum F_rack(g_r), plus u_j(width = pod) - y_j
///                  over a set of listed jobs that take g - rest GPUs anywhere in the pod
///   F_cluster(g) = as F_pod, over pods in place of racks, with u_j(width = cluster)
/// all of one GPU type. Each set has a job at most once, but two sets may both have it. A plan's
/// jobs of whole GPUs are such sets: a job that spans racks is in its pod's set, and so on; its
/// tasks without GPUs take no room here. So whole jobs fill racks (0/1 knapsacks).
///
/// **Tree.** With a tree of cases over listed jobs (model/bound_tree.hpp) the last sum is computed
/// for each leaf, at the prices of the leaf, and the largest counts. A plan places a split job in
/// one spot or not at all, so it follows one child at every inner node, to one leaf. At a leaf a
/// split job is only among the u_j of the racks, pods and types that the path to the leaf allows;
/// when these are none, the job is absent and pays nothing; and when it may not be left out (or is
/// in required_placed), the sum over its places is 1, so that its price may be negative.
///
/// **Options** k of job j: GPU type t, width L (up to job.domain), distance D from home.
///   u_jk = base x speed[t] x home[D] x width[L] as a double, rounded up to the scale
///   C_jk = min over domains d of width L not farther than D of sum over the job's shapes s of
///          fill(s, n_s, d): the cheapest pools of d first, at most cap_ps tasks in each, with
///          cap_ps = what the pool's machines hold of s beside their immovable content, at most
///          m_machine tasks each and m_d in a pool of a rack (pod). The minimum is of the sum.
///   m_l  = min(max_tasks_per[l], n - min_domains[l] + 1) for the n tasks of a job (l: machine,
///          rack, pod). A domain d is left out when it has too little room for n tasks under these
///          numbers, or too few domains of a level l that hold a task; so is a width whose domains
///          are too narrow for max_tasks_per and min_domains. No placement has it. The bound does
///          not know `not_with`.
///   An exclusive job pays for its machines, because nobody else can: a plan's other tasks pay at
///          most mu_p on each machine of theirs, so the machines of the exclusive job may pay mu_p,
///          too. C_jk is then the larger of the sum above and, for each shape s of the job, the
///          fill of n_s tasks at the price mu_p / (tasks of s that one machine holds); there n_s is
///          rounded up to a multiple of what divides these numbers on all machines of the type.
///          On one machine, or where it stays, it pays the mu_p of its machines.
/// GPU tasks use pools of type t, CPU-only tasks of a GPU job any pool, those of a CPU-only job the
/// pools that its types allow. Width machine: all tasks in one pool whose machine can hold them.
/// "Not farther than D" is a superset of "at distance D", and a domain of width L holds narrower
/// placements too, so C is never above the true cost. Domains that cannot hold the tasks are left
/// out. Pinned jobs are not among the jobs: they are content of their machines.
///
/// **Quotas.** room_q = quota of q less pinned jobs, in GPU thousandths. Every option pays theta
/// per thousandth for the job's queue and all its ancestors. Use beyond room_q of a soft quota
/// loses its penalty, so theta is at most the penalty (`unusable` checks this). A job larger than a
/// hard quota has no option.
///
/// **Whole jobs.** With Certificate::whole_jobs every job with GPUs also pays rho for each
/// thousandth that it asks for, and these jobs leave the last two sums. In place of them and of the
/// quotas' sum stands the largest
///   sum_{j chosen} (best net value + rho milli_j + its quota prices) - penalties of soft quotas
/// over sets of whole jobs, with required_placed in them, that ask for no more than the free GPU
/// thousandths of all machines and keep the quotas: a 0/1 knapsack with nested capacities. A plan's
/// jobs are such a set. It is at most the Lagrangian sum rho room + sum_q theta_q room_q + sum_j
/// max(0, net), which counts, for the cluster or for a quota with those below it, where the tables
/// would be too large; there the largest jobs are whole all the same (certify/nested_knapsack).
///
/// Within home racks (Certificate::whole_jobs), a job with a home rack counts with its best option
/// elsewhere; what it gains in its home rack, best net value there less that, counts only for sets
/// of whole jobs that ask for no more than the free GPU thousandths of the rack (0/1 knapsack).
///
/// **Gangs in racks.** A price pi_g (Certificate::gangs) for n tasks of one shape on type t, whose
/// tasks take all GPUs of every machine of t that holds one. A job of such tasks without a home,
/// not exclusive, that is worth more in a rack than wider on t, or may not be wider, pays pi_g in
/// one rack, in place of pi_ps of its tasks. Let c_m be what machine m earns (with jobs that stay)
/// less what it earns beside its devices, at least 0, for the machines of t in a rack that are up
/// and have all devices free. Sets of gangs take e of them, so a rack earns beyond its machines
///   max_e [most of a multiset of gangs with at most e tasks - sum of the e least c_m],
/// at least 0. *Proof.* The gangs of a plan that are in a rack take e whole machines there, which
/// earn their pi_g and what is beside the devices; every other machine earns at most what it does
/// by itself. At any pi_g this holds, and with pi_g = n pi_ps of the cheapest pool it is the bound
/// without gangs.
///
/// **Links.** room_l = Mbit/s that the uplink carries beside pinned jobs. A ring of b Mbit/s over n
/// tasks that leaves its rack (width > rack) loads the uplink of every rack r with tasks of it; r
/// holds at most m_r = min(n - 1, tasks that fit in r, m_rack), so each task there pays lambda_r b
/// / m_r more, rounded down. The pod's uplink is charged alike at width cluster. Racks (pods) whose
/// uplink cannot carry b are left out at these widths. Parameter servers pay nothing; a job that
/// stays pays its present load. This is valid because each width that a placement of the job may
/// have is an option of its own, and a plan has the value of the narrowest: narrow widths may be
/// left out where rules forbid them, but not where they only lack room.
///
/// **Power.** room_b = W that the budget of a rack or a pod leaves beside immovable content. Beside
/// pi_ps every task pays lambda_b for each W that it draws, for its rack and the rack's pod; in a
/// pool of several racks at the least of their prices. A rack (pod) whose budget is less than all
/// tasks of the job draw is left out at widths up to rack (pod).
///
/// **Running jobs** (objective value): out_j = -stop_cost, 0 for other jobs. Every option loses
/// move_cost except an additional one, staying, with value and pools of the job's present place. A
/// job with a job price gains stop_cost wherever it is placed, and move_cost where it stays: u_j -
/// y_j grows by that amount in its present rack (pod, cluster).
/// Where no job has a price of its own, a job of whole GPUs that stays takes its machines' devices,
/// in place of paying the prices of its tasks. With e_j = what it earns by staying net of quotas,
/// limits and rho, and y_j = its best net value elsewhere (at least 0 if it need not be placed), it
/// counts y_j (where whole jobs are chosen in the cluster, if it is chosen: a plan's choice has it,
/// staying or not), and e_j - y_j is an item of its machines' contents. For
/// each of its k machines m it pays pi_m + (e_j - y_j - sum_m pi_m) / k, with pi_m = the prices of
/// its tasks there; where this is no more than pi_m it has no items. A machine with items earns at
/// most the smaller of
///   mu + sum over items max(0, pays - pi_m)                 each in place of equal tasks
///   by multipliers, with max_g [most of a set of items on g devices, each less sum_r (price_pr +
///   a_r) need_r, + V(G - g)] in place of V(G)
/// so the bound is never above the one in which a job that stays pays pi_m (decision 105).
///
/// **Search.** With search_steps > 0 the bound is also at most what a best-first search over the
/// placements of all jobs proves in so many steps (src/certify/search): exact for small instances.
/// It leaves out limits of racks and pods, and a running job stays wherever type, width and
/// distance are those of its present place.
/// In a cluster of more than 128 GPUs where at most 64 jobs have GPUs, it searches over the places
/// (rack, pod or GPU type) of these jobs instead: only GPUs count, each machine has a multiple of
/// the common divisor of the tasks, and a job may be left out even if it is in required_placed
/// (src/certify/search/gang_search). Quotas, rules and other resources are left out.
///
/// The result is the smaller of this and the bound at zero prices (every job at the best option
/// that fits the cluster), rounded down if the values of all options are integers. Under `allocate`
/// it is also at most the GPU thousandths of all machines.
///
/// @pre  unusable(...) and uncovered(...) are empty (asserted)
/// Exact integer arithmetic throughout; independent of threads and of the order of jobs and prices.
/// O(P (1000/step) W + S P log P + J T) for P pools (times the kinds of machines in each), W
/// distinct GPU sizes, S distinct sets of tasks, T GPU types; memory O(P + shapes x T + J), never
/// jobs x machines. Contents add counted work (about 0.1 s at most) and O(S G) for each pool. With
/// job prices also O(R G W log G) for R racks of G GPUs and W sizes, and, with wide gangs, (GPUs of
/// a type)^2; with a tree that for every leaf.
Bound upper_bound(const model::InstanceView& instance, model::Objective objective,
                  const model::Certificate& certificate, std::span<const JobId> required_placed);

/// Upper bound from sums over all planned jobs, of an instance that may lack their records
/// (job_subset.hpp).
/// @param required_placed  used only where jobs have prices of their own
/// @pre unusable(...) is empty for these facts
Bound upper_bound(const model::InstanceView& instance, model::Objective objective,
                  const model::Certificate& certificate, const JobFacts& facts,
                  const JobTerms& terms, std::span<const JobId> required_placed = {});

/// By JobId: max(0, max_k [u_jk - C_jk] - out_j), the largest gain of each job from being placed at
/// these prices. Job prices are ignored. @pre unusable(...) is empty (asserted)
std::vector<double> job_profits(const model::InstanceView& instance, model::Objective objective,
                                const model::Certificate& certificate);

/// Running jobs that the bound leaves where they are, ascending: the contents of all their machines
/// keep them. What a planner may start from. @param items  of JobTerms::stays, all of them
std::vector<JobId> staying_jobs(const model::InstanceView& instance, model::Objective objective,
                                const model::Certificate& certificate, const JobFacts& facts,
                                std::span<const StayItem> items);

/// Why these prices cannot be used: a negative one, a level that is neither rack nor pod, a place
/// or shape that does not exist, numbers whose sums could leave 128 bits. Empty when they can.
std::string unusable(const model::InstanceView& instance, model::Objective objective,
                     const model::Certificate& certificate);
/// Unusable prices of an instance that may lack most jobs. @param facts  of all planned jobs
std::string unusable(const model::InstanceView& instance, model::Objective objective,
                     const model::Certificate& certificate, const JobFacts& facts);

/// Names a case that no leaf of the tree, or more than one, contains among plans that place at
/// least `required_placed`; or a negative price of a job that may be left out. Empty when the tree
/// covers every plan.
/// @pre unusable(...) is empty
std::string uncovered(const model::InstanceView& instance, const model::Certificate& certificate,
                      std::span<const JobId> required_placed);

}  // namespace berth::certify
