# SPDX-License-Identifier: Apache-2.0
"""What stands in each table of docs/papers.md: functions of the results, first row the head."""
import math
from functools import partial


def number(value):
    """Three digits that count."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def rounded(value, half, sign=""):
    """As exact as a digit of the half width, two where it begins with 1."""
    digits = 0 if half <= 0 else max(0, -math.floor(math.log10(half / 2)))
    shown = f"{value:{sign},.{digits}f}"
    if not shown.strip("+-0.,"):
        shown = "0"
    return f"{shown} +- {half:,.{digits}f}"


def mean(row):
    return number(row.mean)


def mean_and_half(row):
    """Without a half width that is below the third digit."""
    if row.half < 5e-4 * abs(row.mean) or row.half == 0:
        return f"{row.mean:.3f}" if row.mean < 10 else number(row.mean)
    return rounded(row.mean, row.half)


def part(value):
    """A ratio: three decimals near 1, else two."""
    return f"{value:.3f}" if 0.9 <= value < 1.1 else f"{value:.2f}"


def ratio(row):
    return part(row.ratio)


def bound_ratio(row):
    return f"{row.ratio:.3f}"


def inverse(row):
    return f"{1.0 / row.ratio:.2f}"


def compared(row):
    """Ratio to the first scheduler, and the paired difference where the third digit shows it."""
    reference = row.mean - row.difference
    if max(abs(row.difference), row.difference_half) <= 5e-4 * abs(reference):
        return ratio(row)
    return f"{ratio(row)} ({rounded(row.difference, row.difference_half, '+')})"


def percent(row):
    return f"{100 * row.mean:.0f} %"


def times_seeds(row):
    """A share of runs as their number."""
    return f"{row.seeds * row.mean:.0f}"


def pivot(results, experiment, metric, head, settings, columns):
    """A row for each (name in the CSV file, as shown); columns are (scheduler, cell)."""
    rows = [head]
    for setting, shown in settings:
        rows.append([shown] + [cell(results.row(experiment, setting, metric, scheduler))
                               for scheduler, cell in columns])
    return rows


def same(*names):
    return [(name, name) for name in names]


def values(results, experiment, settings, metric, scheduler, cell):
    return [cell(results.row(experiment, setting, metric, scheduler)) for setting in settings]


def span(texts, word="to"):
    """The least and the largest of numbers that are written alike."""
    ends = sorted(texts, key=float)
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} {word} {ends[-1]}"


UTILITY, MAKESPAN, JCT = "total utility", "makespan, slots", "mean JCT, s"

SCARCE = ["40 jobs, scarce", "100 jobs, scarce"]
GADGET = same("40 jobs, as stated", "100 jobs, as stated", "40 jobs, scarce, sigmoid",
              "100 jobs, scarce, sigmoid", *SCARCE)
gadget = partial(
    pivot, experiment="gadget", metric=UTILITY, settings=GADGET,
    head=["setting", "GADGET", "FIFO", "DRF", "LAS", "Berth", "bound"],
    columns=[("gadget", mean), ("fifo", compared), ("drf", compared), ("las", compared),
             ("berth", compared), ("bound", ratio)])
gadget_slots = partial(
    pivot, experiment="gadget", metric="utility of a slot, part of its optimum",
    settings=[(f"one slot, 10 servers, {n} jobs", str(n)) for n in (10, 30, 50)],
    head=["jobs", "GADGET", "LP, 1 draw", "best of 10", "LP spread, 1 draw", "best of 10",
          "best of 100"],
    columns=[(name, mean_and_half) for name in
             ("gadget", "LP 1 draw", "LP 10 draws", "LP spread 1 draw", "LP spread 10 draws",
              "LP spread 100 draws")])
embedded = partial(
    pivot, experiment="gadget-figures", metric="jobs embedded, % of active",
    settings=same(*[f"{n} GPUs" for n in (400, 300, 200, 100)],
                  *[f"links of racks of {n} Gbps" for n in (800, 400, 200, 100)]),
    head=["", "40 jobs", "60 jobs", "80 jobs", "100 jobs"],
    columns=[(f"{n} jobs", lambda row: f"{row.mean:.0f}") for n in (40, 60, 80, 100)])

LOSS, LOSS_TIME, TO_90 = "mean normalised loss", "loss x time of a job, s", "time to 90 %, s"
TO_95, TO_EXIT = "time to 95 %, s", "time to exit, s"
SLAQ = [("load 1.15", "load 1.15", [LOSS, LOSS_TIME, TO_90, TO_95, TO_EXIT]),
        ("load 0.5", "load 0.5", [LOSS, TO_90, TO_EXIT]),
        ("load 1, 64 cores a job", "load 1, at most 64 cores a job", [LOSS, TO_90, TO_EXIT])]


def slaq(results):
    rows = [["setting", "metric", "fair", "SLAQ", "Berth", "bound"]]
    for setting, shown, metrics in SLAQ:
        for metric in metrics:
            at = partial(results.row, "slaq", setting, metric)
            rows.append([shown if metric == LOSS else "", metric, mean(at("fair")),
                         compared(at("slaq")), compared(at("berth")),
                         "none" if metric == LOSS else ratio(at("bound"))])
    return rows


ROUNDS = "rounds to 1 % of the optimum, at most 1500"
REACHED, DIVERGED = "runs that reached it, share", "runs that diverged, share"


def strads(results):
    rows = [["P", "rule", "rounds to 1 % of the optimum, at most 1,500", "to random, paired",
             "reached", "diverged"]]
    for parallel in (32, 128):
        for rule, shown in [("random", "random"), ("unchecked 0.1", "importance 0.1, unchecked"),
                            ("strads 0.1", "STRADS 0.1"), ("strads 1", "STRADS 1"),
                            ("berth", "Berth")]:
            at = lambda metric: results.row("strads", f"Lasso, {parallel} a round", metric, rule)
            rounds = at(ROUNDS)
            rows.append([str(parallel), shown, mean_and_half(rounds),
                         "" if rule == "random" else
                         rounded(rounds.difference, rounds.difference_half, "+"),
                         f"{times_seeds(at(REACHED))} of {rounds.seeds}", times_seeds(at(DIVERGED))])
    return rows


factors = partial(
    pivot, experiment="strads", metric="busiest worker over the mean",
    settings=[(f"factorisation, {n} workers", str(n)) for n in (16, 64)],
    head=["workers", "even split", "longest first: STRADS and Berth", "bound"],
    columns=[("even", mean_and_half), ("strads", mean_and_half), ("bound", mean_and_half)])

RINGS = [(name, f"{name.upper()}, {order}") for order in ("submission order", "smallest first")
         for name in ("ff", "ls", "rand")]
sjf_bco = partial(
    pivot, experiment="sjf-bco", metric=MAKESPAN, settings=same("cap15", "weak"),
    head=["setting", "SJF-BCO"] + [shown for _, shown in RINGS] + ["Berth", "bound"],
    columns=[("sjf-bco", mean)] +
    [(f"{name}, {shown.split(', ')[1]}", compared) for name, shown in RINGS] +
    [("berth", compared), ("bound", bound_ratio)])
servers = partial(
    pivot, experiment="sjf-bco-figures", metric=MAKESPAN,
    settings=same(*[f"{name}, {n} servers" for name in ("cap15", "weak") for n in (10, 15)]),
    head=["setting", "SJF-BCO", "FF, submission order", "LS, submission order", "Berth", "bound"],
    columns=[("sjf-bco", mean), ("ff, submission order", compared),
             ("ls, submission order", compared), ("berth", compared), ("bound", ratio)])


def thresholds(results):
    paper = ["1.17", "1.05", "1.01", "1", "1.40", "1.38"]
    rows = [["makespan to that of the search", *[f"kappa {k}" for k in (1, 2, 4, 8, 16, 32)]]]
    for name in ("cap15", "weak"):
        at = partial(results.row, "sjf-bco-figures", f"{name}, thresholds", MAKESPAN)
        rows.append([name] + [f"{at(f'kappa {k}').ratio:.2f}" for k in (1, 2, 4, 8, 16, 32)])
    return rows + [["the paper", *paper]]


def spreads(results):
    rows = [["makespan to that at lambda 1, kappa 1", "lambda 2", "lambda 4", "lambda 8"]]
    for name in ("cap15", "weak"):
        at = partial(results.row, "sjf-bco-figures", f"{name}, kappa 1", MAKESPAN)
        rows.append([name] + [f"{at(f'lambda {k}').ratio:.2f}" for k in (2, 4, 8)])
    return rows + [["the paper", "0.85", "0.70", "0.52"]]


SMD = [f"{kind}, {rest}" for kind in ("sync", "async")
       for rest in ("50 jobs, 1 unit", "50 jobs, 3 units", "50 jobs, 5 units", "200 jobs, 3 units",
                    "3 units, small machines", "3 units, large machines",
                    "3 units, median time 4", "3 units, median time 15")]
smd = partial(
    pivot, experiment="smd", metric=UTILITY, settings=same(*SMD),
    head=["setting", "SMD", "SMD, rounded", "Optimus", "ESW", "Optimus, dearest first",
          "Optimus, in order", "Berth", "bound, by the judge"],
    columns=[("smd", mean), ("smd-rounded", compared), ("optimus", compared), ("esw", compared),
             ("optimus-dearest-first", compared), ("optimus-in-order", ratio),
             ("berth", compared), ("bound", bound_ratio)])

ONES = ["4 x compute, batch as submitted", "4 x compute, batch grows",
        "1 x compute, batch as submitted", "1 x compute, batch grows",
        "as the first, noise scale 8 batches"]
ones = partial(
    pivot, experiment="ones", metric=JCT, settings=same(*ONES),
    head=["setting", "ONES, s", "ONES, work known", "Optimus, work known", "Tiresias",
          "SRSF, work known", "Berth", "Berth, work known", "bound"],
    columns=[("ones", mean_and_half), ("ones, work known", compared),
             ("optimus, work known", compared), ("tiresias", compared),
             ("srsf, work known", compared), ("berth", compared), ("berth, work known", compared),
             ("bound", ratio)])


def coded(results):
    rows = [["tail, n", "all answer", "two copies", "coded", "Berth", "best expected",
             "best k; limit"]]
    for tail, n in (("0.5", 100), ("1.0", 100), ("1.0", 1000), ("2.0", 100)):
        setting = f"tail {tail}, {n} workers"
        at = partial(results.row, "coded", setting, "workers x time of an iteration")
        k = partial(results.row, "coded", setting, "k")
        rows.append([f"{float(tail):g}, {n}", mean(at("all")), mean(at("two copies")),
                     mean(at("coded")), mean(at("berth")), f"{at('best expected').mean:.3f}",
                     f"{k('best expected').mean:.0f}; {k('limit for many workers').mean:.1f}"])
    return rows


SLOTS = [("20 machines", "20 machines, remembered ranges"),
         ("20 machines, work / 10", "20 machines, work / 10"),
         ("20 machines, work / 10, mix 30/69/1", "the same, mix 30 / 69 / 1"),
         ("10 machines, work / 10", "10 machines, work / 10")]
OTHERS = ["OASiS", "PD-ORS, L from 10 %", "OASiS, L from 10 %", "FIFO", "DRF", "berth",
          "berth, irrevocable"]


def pd_ors(results):
    rows = [["setting", "jobs that could end alone", "PD-ORS", *OTHERS[:-2], "Berth",
             "Berth, irrevocable", "bound"]]
    for setting, shown in SLOTS:
        alone = results.row("pd-ors", setting, "jobs that could end alone, share", "all")
        at = partial(results.row, "pd-ors", setting, UTILITY)
        rows.append([shown, percent(alone), mean(at("PD-ORS")),
                     *[compared(at(name)) for name in OTHERS], ratio(at("bound"))])
    return rows


pd_ors_shares = partial(
    pivot, experiment="pd-ors", metric="total utility / bound", settings=SLOTS,
    head=["setting", "PD-ORS", "OASiS", "FIFO", "DRF", "Berth", "Berth, irrevocable"],
    columns=[(name, lambda row: f"{row.mean:.2f} +- {row.half:.2f}") for name in
             ("PD-ORS", "OASiS", "FIFO", "DRF", "berth", "berth, irrevocable")])


def pd_ors_prices(results):
    rows = [["setting", "", "PD-ORS", "PD-ORS, L from 10 %", "OASiS", "Berth"]]
    for setting, shown in (SLOTS[0], SLOTS[3]):
        for what, metric in [("bound", "bound of the optimum by the last prices"),
                             ("rent", "rent of all slots at the last prices")]:
            at = partial(results.row, "pd-ors", setting, metric)
            rows.append([shown if what == "bound" else "", what, mean(at("PD-ORS")),
                         mean(at("PD-ORS, L from 10 %")), mean(at("OASiS")), mean(at("berth"))])
    return rows


GROWTH = [  # as in the CSV file, scheduler, size, stated bound, its exponent
    ("PD-ORS: slots T", "PD-ORS, a job", "slots T, 5 to 40", "T K E (H^3 + S)", "1"),
    ("PD-ORS: parts of the work, K E", "", "parts of the work, 8 to 64", "", "1"),
    ("PD-ORS: machines H", "", "machines H, 4 to 32", "", "3"),
    ("OASiS: slots T", "OASiS, a job", "slots T, 20 to 160", "N E T (H + K) + N^2 E^2 T", "1"),
    ("OASiS: parts of the work, N E", "", "parts of the work, 40 to 320", "", "2"),
    ("OASiS: machines H + K", "", "machines H + K, 20 to 160", "", "1"),
    ("SJF-BCO: jobs", "SJF-BCO", "jobs, 20 to 160", "n_g J N log N log T", "1"),
    ("SJF-BCO: servers, N log N", "", "servers, 10 to 80", "", "1 and a log"),
    ("SJF-BCO: limits T, log T", "", "limits T, 1,200 to 9,600", "", "a log"),
    ("GADGET: jobs, LP", "GADGET, a slot", "jobs, 5 to 40, relaxation", "(I G)^3 + u_b I", "3"),
    ("GADGET: servers, LP", "", "servers, 5 to 40, relaxation", "", "3"),
    ("GADGET: jobs, greedy", "", "jobs, 20 to 160, greedy", "none", ""),
    ("SMD: points of the grid, 1 / epsilon", "SMD", "1 / epsilon, 5 to 40",
     "(ln(max / min) / epsilon)^(J - 1), J = 3", "2"),
    ("SMD: jobs of the knapsack, k = 1", "", "jobs of the knapsack, 10 to 80, k = 1",
     "I^(R + k + 1)", "6"),
    ("SLAQ: jobs", "SLAQ", "jobs, 250 to 2,000; 4,000 cores decide", "J fits + C log J", "1"),
    ("SLAQ: cores, C log J", "", "cores, 2,000 to 16,000", "", "1"),
    ("ONES: jobs of a schedule", "ONES, a packing", "jobs, 8 to 64", "C m^2", "2"),
    ("ONES: GPUs", "", "GPUs, 32 to 256", "", "1"),
    ("STRADS: candidates checked", "STRADS", "candidates checked, 200 to 1,600", "P'^2", "2"),
    ("STRADS: blocks sampled, J log J", "", "blocks sampled, 2,000 to 16,000", "J log J (ours)",
     "1 and a log")]


def growth(results):
    rows = [["scheduler", "size", "stated", "exponent stated", "measured"]]
    for setting, *cells in GROWTH:
        measured = results.row("complexity", setting, "exponent of CPU time", "measured")
        scheduler, size, stated, exponent = cells
        rows.append([scheduler, size, stated, exponent, rounded(measured.mean, measured.half)])
    return rows


def summary_rows(results):
    """Name, what counts, the paper, here, Berth, best possible."""
    at = results.row
    quality = [at("slaq", "load 1.15", metric, name) for name in ("slaq", "berth")
               for metric in (LOSS, TO_90)]
    yield ["[SLAQ](#slaq)", "mean loss and time to 90 %, to fair sharing", "0.27 and 0.56 at best",
           f"{ratio(quality[0])} and {ratio(quality[1])}",
           f"{ratio(quality[2])} and {ratio(quality[3])}",
           f"unknown; >= {ratio(at('slaq', 'load 1.15', TO_90, 'bound'))}"]
    lasso = "Lasso, 128 a round"
    wild = at("strads", lasso, DIVERGED, "unchecked 0.1")
    yield ["[STRADS](#strads)", "rounds of Lasso, 128 at once",
           "checked draws converge, unchecked diverge",
           f"{mean(at('strads', lasso, ROUNDS, 'strads 1'))}; "
           f"{times_seeds(wild)} of {wild.seeds} diverge",
           mean(at("strads", lasso, ROUNDS, "berth")), "unknown"]
    rings = {name: values(results, "sjf-bco", ["cap15", "weak"], MAKESPAN, name, cell)
             for name, cell in [("ff, submission order", inverse), ("ls, submission order", inverse),
                                ("berth", ratio), ("bound", ratio)]}
    first, second = zip(rings["ff, submission order"], rings["ls, submission order"])
    yield ["[SJF-BCO](#sjf-bco)", "makespan, to FF and LS in submission order", "0.74 and 0.90",
           f"{' and '.join(first)} (`cap15`), {' and '.join(second)} (`weak`)",
           f"{' and '.join(rings['berth'])} of SJF-BCO", f">= {' and '.join(rings['bound'])}"]
    yield ["[SMD](#smd)", "utility, to Optimus and ESW", "1.04 to 1.23, 1.11 to 1.78",
           ", ".join(span(values(results, "smd", SMD, UTILITY, name, inverse))
                     for name in ("optimus", "esw")),
           "a tie: the optimum of its problem", "reached"]
    yield ["[GADGET](#gadget)", "utility, to FIFO, DRF and LAS",
           "2.4 to 3.8, 1.4 to 2.1, 1.7 to 2.5",
           "ties as stated; " +
           ", ".join(span(values(results, "gadget", SCARCE, UTILITY, name, inverse))
                     for name in ("fifo", "drf", "las")) + " where GPUs are scarce", "ties",
           "<= " + span(values(results, "gadget", [name for name, _ in GADGET], UTILITY, "bound",
                               lambda row: f"{row.ratio:.2f}"))]
    pairs = [[f"{1.0 / at('ones', setting, JCT, name).ratio:.2f}"
              for name in ("optimus, work known", "tiresias")] for setting in ONES[:2]]
    yield ["[ONES](#ones)", "mean completion, to Optimus and Tiresias", "0.47 and 0.43",
           f"{' and '.join(pairs[0])}, or {' and '.join(pairs[1])}: the batch of the others decides",
           f"{ratio(at('ones', ONES[0], JCT, 'berth'))} of ONES",
           f">= {ratio(at('ones', ONES[0], JCT, 'bound'))}"]
    gains = [inverse_of_coded(results, n) for n in (100, 1000)]
    yield ["[Coded gangs](#coded-gangs)", "n x time of an iteration, to waiting for all",
           "gain of log n", f"{gains[0]} (n = 100), {gains[1]} (1,000)", "a tie with the best k",
           "reached"]
    slots = [setting for setting, _ in SLOTS]
    to_pd_ors = {name: span(values(results, "pd-ors", slots, UTILITY, name,
                                   lambda row: f"{row.ratio:.2f}"))
                 for name in ("berth", "berth, irrevocable", "bound")}
    yield ["[PD-ORS](#pd-ors-and-oasis)", "utility, to OASiS", "above; figures not known here",
           span(values(results, "pd-ors", slots, UTILITY, "OASiS", inverse)),
           f"{to_pd_ors['berth']} of PD-ORS; {to_pd_ors['berth, irrevocable']} where plans are "
           "irrevocable too", f"<= {to_pd_ors['bound']}"]


def inverse_of_coded(results, n):
    """Coded over waiting for all, tail 1."""
    at = partial(results.row, "coded", f"tail 1.0, {n} workers", "workers x time of an iteration")
    return f"{at('coded').mean / at('all').mean:.2f}"


def summary(results):
    return [["paper", "what counts", "the paper", "here", "Berth", "best possible"],
            *summary_rows(results)]


TABLES = {"summary": summary, "gadget": gadget, "gadget-slots": gadget_slots,
          "gadget-embedded": embedded, "slaq": slaq, "strads": strads, "strads-factors": factors,
          "sjf-bco": sjf_bco, "sjf-bco-thresholds": thresholds, "sjf-bco-spreads": spreads,
          "sjf-bco-servers": servers, "smd": smd, "ones": ones, "coded": coded, "pd-ors": pd_ors,
          "pd-ors-shares": pd_ors_shares, "pd-ors-prices": pd_ors_prices, "growth": growth}
