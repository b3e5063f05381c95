# SPDX-License-Identifier: MIT
"""Turns runs into medians, ratios and tables."""

import itertools
import math
import statistics

US = 1e6
BASE = "skua-epoll"
RIVALS = ("nginx", "haproxy")  # of skua as a gateway
GOAL = 0.95  # its CPU against that of the better of them
CEILINGS = {"skua-epoll": ("raw-epoll", "raw-ws", "raw-echo"), "skua-io_uring": ("raw-io_uring",)}


def costs(run, subject):
    """Returns the CPU seconds of the side that is measured, and of the other."""
    return (run["load_cpu"], run["server_cpu"]) if subject == "load" else (run["server_cpu"], run["load_cpu"])


def cost(run, measure, subject="server"):
    """Returns what is compared between two runs; `measure` is one of scenarios.NORMALISED, PLAIN, BOTH and BEHIND."""
    own, other = costs(run, subject)
    if measure == "normalised":
        return own / other  # the requests cancel
    if measure == "behind":
        return own / run["upstream_cpu"]
    return (own if measure == "plain" else own + other + run.get("upstream_cpu", 0.0)) / run["requests"]


def ratios(runs, base_runs, measure, subject="server"):
    """Returns one ratio per round: both runs of a round saw the same state of the machine."""
    by_round = {run["round"]: run for run in base_runs}
    return [cost(run, measure, subject) / cost(by_round[run["round"]], measure, subject) for run in runs if run["round"] in by_round]


def is_settled(runs, base_runs, measure, subject="server"):
    """Reports whether a competitor is so far behind that another round would not change its rank: by 1.5 in two rounds that agree within 5 %."""
    found = ratios(runs, base_runs, measure, subject)
    return len(found) > 1 and min(found) > 1.5 and max(found) < 1.05 * min(found)


def spread(values):
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarise(name, runs, base_runs, measure, subject="server"):
    """Returns the row of one competitor; one with errors has no ratio."""
    errors = {kind: sum(run["errors"][kind] for run in runs) for kind in runs[0]["errors"]}

    def median(value):
        found = [value(run) for run in runs]
        return statistics.median(found) if all(one is not None for one in found) else None

    row = {
        "name": name,
        "rounds": len(runs),
        "cpu_us": median(lambda run: costs(run, subject)[0] / run["requests"]) * US,
        "other_us": median(lambda run: costs(run, subject)[1] / run["requests"]) * US,
        "upstream_us": median(lambda run: run["upstream_cpu"] / run["requests"] * US if "upstream_cpu" in run else None),
        "per_second": median(lambda run: run["requests"] / run["seconds"]),
        "mb_per_second": median(lambda run: run["bytes"] / run["seconds"]) / 1e6,
        "p50_us": median(lambda run: run.get("p50_us")),
        "p99_us": median(lambda run: run.get("p99_us")),
        "max_us": max((run["max_us"] for run in runs if run.get("max_us")), default=None),
        "errors": errors,
        "rss_kib": max(run["rss_kib"] for run in runs),
    }
    row["ratio"] = None if any(errors.values()) else spread(ratios(runs, base_runs, measure, subject))
    return row


def rank(rows):
    """Sorts rows by their ratio; those that are not ranked come last."""
    return sorted(rows, key=lambda row: (row["ratio"] is None, row["ratio"]["median"] if row["ratio"] else row["cpu_us"]))


def own_ceilings(runs, measure):
    """Returns the ratio of each back end to the ceilings that were run beside it, as (name, ceiling, ratio)."""
    return [(name, ceiling, spread(ratios(runs[name], runs[ceiling], measure)))
            for name, ceilings in CEILINGS.items() for ceiling in ceilings if runs.get(name) and runs.get(ceiling)]


def rivals(runs, measure):
    """Returns the ratio of each gateway of skua to the better of its rivals, as (name, rival, ratio).

    If scenarios compare the CPU of all sides, this is still that of the gateway alone.
    """
    how = "plain" if measure == "both" else measure

    def against(name, rival):
        return name, rival, spread(ratios(runs[name], runs[rival], how))

    able = [rival for rival in RIVALS if runs.get(rival) and not any(any(run["errors"].values()) for run in runs[rival])]
    pairs = [[found for rival in able if (found := against(name, rival))[2]] for name in runs if name.startswith("skua-")]
    return [max(found, key=lambda one: one[2]["median"]) for found in pairs if found]


def is_ceiling(name):
    return name.startswith("raw-")


def ranked(scenario):
    """Returns what is ranked, by name: ratios, or bytes of idle connections; nothing of latencies."""
    if scenario["kind"] == "idle":
        return {row["name"]: row["bytes"] for row in scenario["rows"] if row["bytes"] > 0}
    return {row["name"]: row["ratio"]["median"] for row in scenario["rows"] if row.get("ratio")}


def ahead(scenario, factor=0.97):
    """Returns the names of others whose cost (or memory) is below `factor` times that of skua on epoll, the default."""
    found = ranked(scenario)
    return [name for name, value in found.items() if value < factor * found.get(BASE, 0) and not name.startswith("skua-") and not is_ceiling(name)]


def spreads(scenario):
    """Returns the smallest and the largest value of what is ranked, by name."""
    if scenario["kind"] == "idle":
        return {name: (value, value) for name, value in ranked(scenario).items()}
    return {row["name"]: (row["ratio"]["min"], row["ratio"]["max"]) for row in scenario["rows"] if row.get("ratio")}


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


def sure_pairs(first, second, factor=1.1):
    """Yields (scenario, a, b, b's cost by a's in the first run, and in the second) for pairs that both runs rank, because their spreads do not overlap, and that
    differ by more than `factor` in one of them."""
    for name, one in first["scenarios"].items():
        other = second["scenarios"].get(name, {"kind": "", "rows": []})
        here, there = ranked(one), ranked(other)
        spreads_here, spreads_there = spreads(one), spreads(other)
        for a, b in itertools.combinations([competitor for competitor in here if competitor in there], 2):
            if overlap(spreads_here[a], spreads_here[b]) or overlap(spreads_there[a], spreads_there[b]):
                continue
            ratios_of_both = here[b] / here[a], there[b] / there[a]
            if any(max(ratio, 1 / ratio) > factor for ratio in ratios_of_both):
                yield name, a, b, *ratios_of_both


def disagreements(pairs):
    """Returns those of sure_pairs() whose order is not the same in both runs, beginning with the widest gap."""
    return sorted((pair for pair in pairs if (pair[3] - 1) * (pair[4] - 1) <= 0), key=lambda pair: -abs(math.log(pair[3] / pair[4])))


def show_ratio(ratio):
    return f"{ratio['median']:.2f} ({ratio['min']:.2f}..{ratio['max']:.2f})" if ratio else "-"


def show_ms(microseconds):
    # wrk reports 0 for some percentiles of pipelined runs.
    return f"{microseconds / 1e3:.2f}" if microseconds else "-"


def show_errors(errors):
    return ", ".join(f"{count} {kind}" for kind, count in errors.items() if count) or "0"


def optional(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def small(value):
    """Returns a number with three significant digits and no more decimals than two."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


COLUMNS = (
    ("", lambda row: row["name"]),
    ("ratio (min..max)", lambda row: show_ratio(row["ratio"])),
    ("CPU us", lambda row: small(row["cpu_us"])),
    ("other side us", lambda row: small(row["other_us"])),
    ("upstream us", lambda row: small(row["upstream_us"]) if row.get("upstream_us") else "-"),
    ("per second", lambda row: f"{row['per_second']:.0f}"),
    ("MB/s", lambda row: small(row["mb_per_second"])),
    ("p50 ms", lambda row: show_ms(row["p50_us"])),
    ("p99 ms", lambda row: show_ms(row["p99_us"])),
    ("max ms", lambda row: show_ms(row["max_us"])),
    ("errors", lambda row: show_errors(row["errors"])),
    ("system calls", lambda row: optional(row.get("system_calls"))),
    ("user instructions", lambda row: optional(row.get("instructions"), 0)),
    ("RSS MB", lambda row: f"{row['rss_kib'] / 1024:.1f}"),
)
LATENCY_COLUMNS = (
    ("", lambda row: row["name"]),
    *((f"{label} ms", lambda row, key=key: show_ms(row["latency_us"].get(key)))
      for label, key in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p99_9"), ("p99.99", "p99_99"), ("max", "max"))),
    ("per second", lambda row: f"{row['per_second']:.0f}"),
    ("errors", lambda row: show_errors(row["errors"])),
)
IDLE_COLUMNS = (
    ("", lambda row: row["name"]),
    ("bytes", lambda row: f"{row['bytes']:.0f}"),
    ("connections", lambda row: str(row["connections"])),
)


def beside_columns(scenario):
    """Returns a column for each kind of failure."""
    phases = scenario["rows"][0]["beside"] if scenario["rows"] else {}
    return (("", lambda row: row["name"]), ("p99 ms", lambda row: show_ms(row["p99_us"])),
            *((phase, lambda row, phase=phase: show_ratio(row["beside"][phase])) for phase in phases),
            ("errors", lambda row: show_errors(row["errors"])))


def table(heads, rows):
    """Returns a Markdown table with aligned columns, so that it reads well in a terminal too."""
    widths = [max(len(cells[i]) for cells in [heads, *rows]) for i in range(len(heads))]
    lines = []
    for cells in [heads, ["-" * max(width, 3) for width in widths], *rows]:
        padded = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))]
        lines.append("| " + " | ".join(padded) + " |")
    return "\n".join(lines)


def columns_of(scenario):
    if scenario["kind"] == "beside":
        return beside_columns(scenario)
    return {"load": COLUMNS, "rate": LATENCY_COLUMNS, "idle": IDLE_COLUMNS}[scenario["kind"]]


def scenario_table(scenario):
    """Returns the full table of a scenario, without columns that nobody has a value for."""
    columns = columns_of(scenario)
    cells = [[show(row) for _, show in columns] for row in scenario["rows"]]
    used = [i for i in range(len(columns)) if i < 2 or any(row[i] != "-" for row in cells)]
    return table([columns[i][0] for i in used], [[row[i] for i in used] for row in cells])


def scenario_text(scenario):
    """Returns a scenario's table with its title, its ceilings, and who is left out and why."""
    lines = [f"### {scenario['title']}", "", scenario_table(scenario), ""]
    for name, ceiling, ratio in scenario.get("ceilings", []):
        lines.append(f"{name} / {ceiling}: {show_ratio(ratio)}  ")
    for name, rival, ratio in scenario.get("rivals", []):
        lines.append(f"{name} / {rival}: {show_ratio(ratio)}, goal {GOAL}  ")
    for name, fields in scenario["lacks"].items():
        lines.append(f"{name} sends no {', '.join(fields)}  ")
    for name, why in scenario["left_out"].items():
        told = why.replace("\\", "\\\\")  # Markdown takes single ones away
        lines.append(f"left out: {name} ({told})  ")
    return "\n".join(lines).rstrip() + "\n"


def group_table(scenarios):
    """Returns one table for the scenarios of a group: CPU in microseconds (or bytes) and the ratio, a row for each competitor."""
    names = []
    for scenario in scenarios:
        names += [row["name"] for row in scenario["rows"] if row["name"] not in names]
    rows = []
    for name in names:
        cells = [name]
        for scenario in scenarios:
            row = next((row for row in scenario["rows"] if row["name"] == name), None)
            cells.append(cell(scenario["kind"], row) if row else "")
        rows.append(cells)
    return table(["", *[scenario["name"] for scenario in scenarios]], rows)


def goal_table(scenarios):
    """Returns a table of the gateways of skua: the ratio of each to the better of its rivals, which the last column names."""
    told = {scenario["name"]: {name: (rival, ratio) for name, rival, ratio in scenario.get("rivals", [])} for scenario in scenarios}
    names = list(dict.fromkeys(name for found in told.values() for name in found))
    rows = [[title, *(show_ratio(found[name][1]) if name in found else "" for name in names), ", ".join(dict.fromkeys(rival for rival, _ in found.values()))]
            for title, found in told.items() if found]
    return table(["", *names, "against"], rows)


def rounded(value):
    """Returns a number with two significant digits and thousands separators."""
    digits = max(0, math.floor(math.log10(value)) - 1) if value >= 1 else 0
    return f"{round(value, -digits):,.0f}"


# What Linux keeps for a connection that is idle: socket 2.4 kB, inode 0.8, entry of epoll 0.4, file and its name 0.4, and what slabs
# waste. Sums of /proc/slabinfo before and after some thousand connections, on 6.18; it does not depend on the program.
KERNEL_BYTES = 4_700


def sizing_table(document, names):
    """Returns what one core and one gigabyte are good for, with skua on epoll: so many a second, or so many idle connections."""
    rows = []
    for name in names:
        scenario = document["scenarios"].get(name, {"rows": []})
        row = next((row for row in scenario["rows"] if row["name"] == BASE), None)
        if row is None:
            continue
        title = f"`{name}`: {scenario['title']}"
        if scenario["kind"] == "idle":
            rows.append([title, f"{row['bytes'] / 1024:.2f} KiB", f"{rounded(2**30 / row['bytes'])} connections a GiB",
                         f"{rounded(2**30 / (row['bytes'] + KERNEL_BYTES))} connections a GiB"])
        else:
            rows.append([title, f"{small(row['cpu_us'])} us", f"{rounded(US / row['cpu_us'])} a second and core", "the same"])
    return table(["", "costs", "so at most", "with the kernel"], rows)


def cell(kind, row):
    if kind == "idle":
        return f"{row['bytes']:.0f}"
    if kind == "beside":
        return " / ".join(f"{ratio['median']:.2f}" for ratio in row["beside"].values())
    if kind == "rate":
        return f"{show_ms(row['latency_us'].get('p50'))} / {show_ms(row['latency_us'].get('p99'))} / {show_ms(row['latency_us'].get('p99_99'))}"
    if any(row["errors"].values()):
        return "errors"
    return f"{small(row['cpu_us'])} ({row['ratio']['median']:.2f})" if row["ratio"] else small(row["cpu_us"])


def measured_when(told):
    return f"{told['date']}, commit {told['commit'][:10]}{' with changes' if told.get('changes') else ''}"


def added_later(document):
    """Returns a paragraph on scenarios that were measured in other runs."""
    runs = {}
    for name, scenario in document["scenarios"].items():
        if run := scenario.get("run"):
            runs.setdefault(f"{run['rounds']} rounds of {run['seconds']:g} s; {measured_when(run)}", []).append(f"`{name}`")
    return [line for how, names in runs.items() for line in (f"Measured apart from the others: {', '.join(names)} in {how}.", "")]


def about(document):
    """Returns a paragraph on the machine and the programs of a run."""
    told, options = document["machine"], document["options"]
    lines = [f"{told['processor']}, {told['cores']} cores, {told['memory_gib']} GiB; {told['system']}, Linux {told['kernel']}, {told['congestion_control']} "
             f"congestion control; {told['compiler']}, `{told['flags']}`; {told['descriptors']} descriptors. {options['rounds']} interleaved rounds of "
             f"{options['seconds']:g} s; {measured_when(document)}.", "",
             *added_later(document),
             "Peers and tools: " + "; ".join(told["versions"].values()) + "."]
    return "\n".join(lines)


def by_group(document, groups):
    """Yields (title, [scenario with its name]) for each group that has results."""
    for group, title in groups.items():
        found = [{"name": name, **one} for name, one in document["scenarios"].items() if one["group"] == group]
        if found:
            yield group, title, found


def tables(document, groups):
    """Returns all tables, as Markdown."""
    parts = ["# Results", "", about(document), ""]
    for _, title, found in by_group(document, groups):
        parts += [f"## {title}", "", *(scenario_text(one) for one in found)]
    return "\n".join(parts)
