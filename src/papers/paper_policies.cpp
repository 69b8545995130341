// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/paper_policies.hpp"

#include "gadget/gadget_policy.hpp"
#include "pd_ors/slot_policy.hpp"
#include "sjf_bco/sjf_bco_policy.hpp"
#include "slaq/slaq_policy.hpp"
#include "smd/smd_policy.hpp"

#include <algorithm>
#include <vector>

#include "berth/papers/berth_elastic.hpp"
#include "berth/papers/ones.hpp"

namespace berth::papers {
namespace {

const std::vector<PaperPolicyRow>& rows() {
  static const std::vector<PaperPolicyRow> table = {
      {"pd-ors",
       "admission at arrival by prices of machines and slots (PD-ORS, TNSE 2022)",
       true,
       {},
       make_pd_ors,
       true},
      {"oasis",
       "the same, workers and servers on different machines (OASiS, INFOCOM 2018)",
       true,
       {},
       make_oasis,
       true},
      {"ones", "evolution of GPUs, batches and places of elastic jobs (ONES)", true,
       "it learns from runs how fast and how far jobs are",
       [](const PaperWorld& world) { return make_ones(world, default_training(world), {}); }, true},
      {"optimus-elastic", "GPUs of elastic jobs by marginal gain, every minute (Optimus)", true,
       "it chooses sizes of jobs, and a plan of one moment has them at their tasks",
       [](const PaperWorld& world) { return make_optimus_elastic(world, 60 * policy::kSecond); },
       true},
      {"berth-elastic", "GPUs, batches and places of elastic jobs for mean completion time", true,
       "it learns from runs how fast and how far jobs are",
       [](const PaperWorld& world) {
         return make_berth_elastic(world, default_training(world), {});
       },
       true},
      {"gadget",
       "GPUs by slots to the most utility weight x sqrt(work) (GADGET, INFOCOM 2022)",
       true,
       {},
       make_gadget},
      {"slaq", "GPUs to the largest predicted drop of loss (SLAQ, SoCC 2017)", true,
       "it predicts from losses that jobs have reported", make_slaq},
      {"smd",
       "fastest workers and servers, jobs admitted by a knapsack (SMD, INFOCOM 2021)",
       false,
       {},
       make_smd},
      {"optimus",
       "workers and servers one by one (Optimus, EuroSys 2018), admitted as by smd",
       false,
       {},
       make_optimus},
      {"esw", "as many workers as servers, admitted as by smd", false, {}, make_esw},
      {"sjf-bco",
       "rings, small ones packed, large ones on idle machines (SJF-BCO, MobiHoc 2022)",
       false,
       {},
       make_sjf_bco,
       true},
  };
  return table;
}

}  // namespace

std::span<const PaperPolicyRow> paper_policies() { return rows(); }

const PaperPolicyRow* find_paper_policy(std::string_view name) {
  const auto at = std::ranges::find(rows(), name, &PaperPolicyRow::name);
  return at == rows().end() ? nullptr : &*at;
}

}  // namespace berth::papers
