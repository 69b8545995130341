// SPDX-License-Identifier: Apache-2.0
#include "content_search.hpp"

#include <algorithm>

namespace berth::certify {

namespace {

/// Labels with the same capacity left that a new one is compared with: the first ones, which have
/// the largest bounds. Chosen, not tuned; any number is valid.
constexpr std::size_t kCompared = 128;

}  // namespace

ContentSearch::ContentSearch(const MachineKnapsack& knapsack, const RelaxedKnapsack& relaxed,
                             Int128 attained)
    : knapsack_(knapsack),
      relaxed_(relaxed),
      attained_(attained),
      by_devices_(knapsack.whole() + 1),
      by_steps_(knapsack.width() + 1),
      others_(other_choices()),
      same_place_(2 * (knapsack.whole() + 1) + knapsack.partly().size() + 1) {}

Int128 ContentSearch::most(std::size_t labels) {
  ContentLabel root{.bound = relaxed_.bound(),
                    .needs = {},
                    .devices = static_cast<std::uint32_t>(knapsack_.whole()),
                    .kinds = static_cast<std::uint32_t>(knapsack_.tasks().size())};
  if (root.devices == 0) enter(root, kPartly);
  add(root);
  while (!open_.empty() && open_.top().bound > attained_) {
    const Open next = open_.top();
    if (++labels_made_ > labels) return next.bound;
    open_.pop();
    open(next.label, next.choice + 1);
    ContentLabel label = extended(labels_[next.label], choices(labels_[next.label])[next.choice]);
    label.bound = next.bound;
    add(label);
  }
  return attained_;
}

std::uint32_t ContentSearch::last_part() const {
  return kPartly + static_cast<std::uint32_t>(knapsack_.partly().size());
}

std::span<const MachineKnapsack::Item> ContentSearch::items(std::uint32_t part) const {
  return part == kTasks        ? knapsack_.tasks()
         : part == last_part() ? knapsack_.without_gpus()
                               : knapsack_.shares();
}

/// Begins the first part from this one on that has room, or the last one.
void ContentSearch::enter(ContentLabel& label, std::uint32_t part) const {
  const auto shares = static_cast<std::uint32_t>(knapsack_.shares().size());
  label.copies = 0;
  if (part == kWhole && (shares == 0 || label.devices == 0)) part = kPartly;
  label.part = part;
  label.kinds = part == last_part() ? static_cast<std::uint32_t>(others_.size()) : shares;
  label.steps = 0;
  if (part == last_part()) {
    label.devices = 0;
  } else if (part == kWhole) {
    --label.devices;
    label.steps = static_cast<std::uint32_t>(knapsack_.width());
  } else {
    label.steps = static_cast<std::uint32_t>(knapsack_.partly()[part - kPartly]);
  }
}

const std::vector<ContentSearch::ItemChoice>& ContentSearch::choices(const ContentLabel& label) {
  if (label.part == last_part()) return others_;
  std::vector<ItemChoice>& known =
      label.part == kTasks ? by_devices_[label.devices] : by_steps_[label.steps];
  if (known.empty()) {
    known = label.part == kTasks ? task_choices(label.devices) : share_choices(label.steps);
  }
  return known;
}

namespace {

/// Most earned first; ties: the item of the smallest needs.
void sort(auto& choices) {
  std::ranges::sort(choices, [](const auto& a, const auto& b) {
    return a.earned != b.earned ? a.earned > b.earned : a.item < b.item;
  });
}

}  // namespace

std::vector<ContentSearch::ItemChoice> ContentSearch::task_choices(std::size_t devices) const {
  std::vector<ItemChoice> choices{{relaxed_.on_devices(0, devices), kAdvance}};
  for (std::uint32_t i = 0; i < knapsack_.tasks().size(); ++i) {
    const MachineKnapsack::Item& task = knapsack_.tasks()[i];
    const auto size = static_cast<std::size_t>(task.devices);
    if (size > devices) continue;
    choices.push_back({relaxed_.reduced(task) + relaxed_.on_devices(i + 1, devices - size), i});
  }
  sort(choices);
  return choices;
}

std::vector<ContentSearch::ItemChoice> ContentSearch::share_choices(std::size_t steps) const {
  std::vector<ItemChoice> choices{{0, kAdvance}};
  for (std::uint32_t i = 0; i < knapsack_.shares().size(); ++i) {
    const MachineKnapsack::Item& share = knapsack_.shares()[i];
    const std::size_t width = knapsack_.width(share);
    if (width > steps) continue;
    choices.push_back({relaxed_.reduced(share) + relaxed_.on_steps(i + 1, steps - width), i});
  }
  sort(choices);
  return choices;
}

std::vector<ContentSearch::ItemChoice> ContentSearch::other_choices() const {
  std::vector<ItemChoice> choices;
  for (std::uint32_t i = 0; i < knapsack_.without_gpus().size(); ++i) {
    const Int128 earned = relaxed_.reduced(knapsack_.without_gpus()[i]);
    choices.push_back({std::min<Int128>(earned, 0) + relaxed_.without_gpus(i + 1), i});
  }
  sort(choices);
  return choices;
}

/// Most that is earned in parts after that of the label and on its unused devices.
Int128 ContentSearch::after(const ContentLabel& label) const {
  if (label.part == last_part()) return 0;
  const Int128 others = relaxed_.without_gpus(others_.size());
  if (label.part >= kPartly) return relaxed_.on_partly(label.part - kPartly + 1) + others;
  const Int128 partly = relaxed_.on_partly(0) + others;
  return label.part == kTasks ? partly
                              : partly + relaxed_.on_steps(knapsack_.width()) * label.devices;
}

bool ContentSearch::possible(const ContentLabel& label, const ItemChoice& choice) const {
  if (choice.item == kAdvance) {
    const bool shares_follow =
        !knapsack_.shares().empty() &&
        (label.part <= kWhole ? label.devices > 0 || !knapsack_.partly().empty()
                              : label.part + 1 < last_part());
    return shares_follow || !others_.empty();
  }
  if (choice.item >= label.kinds) return false;
  const MachineKnapsack::Item& item = items(label.part)[choice.item];
  if (!item.plenty && choice.item + 1 == label.kinds && label.copies >= item.most) return false;
  return std::ranges::all_of(knapsack_.binding(), [&](std::size_t r) {
    return label.needs[r] + item.needs[r] <= knapsack_.room()[r];
  });
}

/// Opens the first possible choice from this one on.
void ContentSearch::open(std::uint32_t label, std::uint32_t choice) {
  const std::vector<ItemChoice>& all = choices(labels_[label]);
  const ContentLabel& from = labels_[label];
  const Int128 rest = relaxed_.capacity() + from.reduced + after(from);
  for (; choice < all.size(); ++choice) {
    const Int128 bound = std::min(from.bound, rest + all[choice].earned);
    if (bound <= attained_) return;
    if (!possible(from, all[choice])) continue;
    open_.push({bound, label, choice});
    return;
  }
}

ContentSearch::ContentLabel ContentSearch::extended(const ContentLabel& from,
                                                    const ItemChoice& choice) const {
  ContentLabel label = from;
  if (choice.item == kAdvance) {
    enter(label, from.part <= kWhole ? std::uint32_t{kWhole} : from.part + 1);
    return label;
  }
  const MachineKnapsack::Item& item = items(from.part)[choice.item];
  label.price += item.price;
  label.reduced += relaxed_.reduced(item);
  label.needs += item.needs;
  label.copies = choice.item + 1 == from.kinds ? from.copies + 1 : 1;
  label.kinds = choice.item + 1;
  if (from.part == kTasks) {
    label.devices -= static_cast<std::uint32_t>(item.devices);
  } else if (from.part != last_part()) {
    label.steps -= static_cast<std::uint32_t>(knapsack_.width(item));
  }
  return label;
}

void ContentSearch::add(const ContentLabel& label) {
  const bool in_device = label.part != kTasks && label.part != last_part() && label.copies > 0;
  if (!in_device) {
    const std::size_t sizes = knapsack_.whole() + 1;
    const std::size_t place = label.part < kPartly ? label.part * sizes + label.devices
                                                   : 2 * sizes + label.part - kPartly;
    if (dominated(label, same_place_[place])) return;
    same_place_[place].push_back(static_cast<std::uint32_t>(labels_.size()));
  }
  attained_ = std::max(attained_, label.price);
  labels_.push_back(label);
  open(static_cast<std::uint32_t>(labels_.size() - 1), 0);
}

bool ContentSearch::dominated(const ContentLabel& label,
                              std::span<const std::uint32_t> others) const {
  const auto may_take_as_much = [&](const ContentLabel& other) {
    if (other.kinds != label.kinds) return other.kinds > label.kinds;
    return label.kinds == 0 || other.copies <= label.copies ||
           items(label.part)[label.kinds - 1].plenty;
  };
  const auto first = others.first(std::min(others.size(), kCompared));
  return std::ranges::any_of(first, [&](std::uint32_t o) {
    const ContentLabel& other = labels_[o];
    return other.price >= label.price && may_take_as_much(other) && other.needs.within(label.needs);
  });
}

}  // namespace berth::certify
