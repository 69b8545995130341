# SPDX-License-Identifier: Apache-2.0
"""Results as text: a line for each plan, a summary, a comparison of two files."""
import json

KEY = ("class", "gpus", "mode", "seed")
LEVELS = (0.1, 0.5)  # percent of gap
HEAD = (f"{'class':26}{'GPUs':>7} {'mode':8}{'seed':>4}{'shards':>7}{'gap %':>9}{'true gap %':>12}"
        f"{'missing':>8}{'GPUs %':>8}{'CPU s':>8}{'check s':>8}  plan")


def read(path):
    """Rows by class, size, mode and seed; the last one of each counts."""
    with open(path) as lines:
        return {tuple(row[k] for k in KEY): row for row in map(json.loads, lines)}


def percent(part):
    return f"{100 * part:.4f}"


def line(row):
    start = f"{row['class']:26}{row['gpus']:7} {row['mode']:8}{row['seed']:4}"
    if "gap" not in row:
        return f"{start}  no plan, exit code {row['exit']}: {row['message']}"
    # '=': the optimum is known; '<': at most, against a bound made without Berth
    true_gap = ("=" if row["exact"] else "<") + " " + percent(row["true_gap"])
    verdict = "VALID" if row["valid"] else "INVALID " + row["message"]
    return (f"{start}{row['shards']:7}{percent(row['gap']):>9}{true_gap:>12}{row['missing']:8}"
            f"{100 * row['gpus_placed']:8.2f}{row['cpu_seconds']:8.2f}{row['check_cpu_seconds']:8.2f}"
            f"  {verdict}")


def grouped(rows):
    """Lists of rows by (GPUs, mode, seed), in the order of their first row."""
    groups = {}
    for row in rows:
        groups.setdefault((row["gpus"], row["mode"], row["seed"]), []).append(row)
    return groups


def summary(rows):
    """Plans within each level, and the names of the others by falling gap."""
    text = [f"{'GPUs':>7} {'mode':8}{'seed':>4}{'plans':>6}"
            + "".join(f"{f'<= {level} %':>9}" for level in LEVELS)
            + f"{'missing':>8}{'invalid':>8}{'CPU s':>8}  above {LEVELS[-1]} %"]
    for (gpus, mode, seed), group in grouped(rows).items():
        planned = [r for r in group if "gap" in r]
        within = [sum(100 * r["gap"] <= level for r in planned) for level in LEVELS]
        above = sorted((r for r in planned if 100 * r["gap"] > LEVELS[-1]), key=lambda r: -r["gap"])
        text.append(f"{gpus:7} {mode:8}{seed:4}{len(group):6}" + "".join(f"{n:9}" for n in within)
                    + f"{sum(r['missing'] > 0 for r in planned):8}"
                    + f"{sum(not r['valid'] for r in group):8}"
                    + f"{sum(r['cpu_seconds'] for r in group):8.1f}  "
                    + ", ".join(f"{r['class']} {100 * r['gap']:.2f}" for r in above))
    return "\n".join(text)


def comparison(before, after, least=0.01):
    """Plans of both files whose gap moved by `least` percent points or whose missing jobs changed."""
    both = [key for key in before if key in after and "gap" in before[key] and "gap" in after[key]]
    text = [f"{'class':26}{'GPUs':>7} {'mode':8}{'seed':>4}{'gap % before':>13}{'after':>9}"
            f"{'objective %':>13}{'missing':>9}{'CPU s':>14}"]
    better = worse = 0
    for key in sorted(both, key=lambda k: after[k]["gap"] - before[k]["gap"]):
        old, new = before[key], after[key]
        moved = 100 * (new["gap"] - old["gap"])
        if abs(moved) < least and new["missing"] == old["missing"]:
            continue
        better, worse = better + (moved < 0), worse + (moved > 0)
        gain = 100 * (new["objective"] / old["objective"] - 1) if old["objective"] else 0.0
        missing = f"{old['missing']}->{new['missing']}"
        seconds = f"{old['cpu_seconds']:.2f}->{new['cpu_seconds']:.2f}"
        name, gpus, mode, seed = key
        text.append(f"{name:26}{gpus:7} {mode:8}{seed:4}{percent(old['gap']):>13}"
                    f"{percent(new['gap']):>9}{gain:+13.4f}{missing:>9}{seconds:>14}")
    cpu = [sum(rows[k]["cpu_seconds"] for k in both) for rows in (before, after)]
    alone = len(before) + len(after) - 2 * len(both)
    text.append(f"{len(both)} plans in both ({alone} in one only or without a plan): {better} better, "
                f"{worse} worse by {least} points; CPU seconds {cpu[0]:.1f} -> {cpu[1]:.1f}")
    return "\n".join(text)


def worst(rows, most):
    """Of each class the row of largest gap; the `most` largest of them."""
    by_class = {}
    for row in sorted((r for r in rows if "gap" in r), key=lambda r: -r["gap"]):
        by_class.setdefault(row["class"], row)
    return list(by_class.values())[:most]


def effort(pairs):
    """A table of (before, after): gap in percent, and where it comes from."""
    text = ["| class | GPUs, mode, seed | gap % before | after | plan | bound | |", "|---" * 7 + "|"]
    done = 0
    for old, new in pairs:
        start = f"| {old['class']} | {old['gpus']:,}, {old['mode']}, {old['seed']} "
        if "gap" not in new:
            text.append(f"{start}| {100 * old['gap']:.3f} | no plan | | | |")
            continue
        met = 100 * new["gap"] <= LEVELS[0] or new["gap"] <= 0.5 * old["gap"]
        done += met
        moved = [100 * (new[k] / old[k] - 1) if old[k] else 0.0 for k in ("objective", "upper_bound")]
        text.append(f"{start}| {100 * old['gap']:.3f} | {100 * new['gap']:.3f} "
                    f"| {moved[0]:+.3f} % | {moved[1]:+.3f} % | {'' if met else 'not met'} |")
    text.append(f"\n{done} of {len(pairs)} halved or within {LEVELS[0]} %")
    return "\n".join(text)


def markdown(rows):
    """A table with a line for each class: gap in percent and CPU seconds of each size, mode and seed."""
    groups, classes = grouped(rows), {}
    for row in rows:
        classes.setdefault(row["class"], {})[row["gpus"], row["mode"], row["seed"]] = row
    names = [f"{gpus:,}, {mode}, seed {seed}" for gpus, mode, seed in groups]
    text = ["| class | " + " | ".join(names) + " | missing | CPU s |", "|---" * (len(names) + 3) + "|"]
    for name, plans in classes.items():
        found = [plans.get(group) for group in groups]
        gaps = [f"{100 * r['gap']:.3f}" if r and "gap" in r else "" for r in found]
        seconds = [f"{r['cpu_seconds']:.2f}" for r in found if r]
        missing = sum(r.get("missing", 0) for r in found if r)
        text.append(f"| {name} | {' | '.join(gaps)} | {missing or ''} | {', '.join(seconds)} |")
    return "\n".join(text)
