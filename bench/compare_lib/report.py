# SPDX-License-Identifier: MIT
"""Turns runs into medians, ratios and tables."""

import statistics

US = 1e6


def normalised(run):
    """Returns the server's CPU over the generator's in the same run; the requests cancel."""
    return run["server_cpu"] / run["wrk_cpu"]


def plain(run):
    return run["server_cpu"] / run["requests"]


def ratios(runs, base_runs, measure):
    """Returns one ratio per round: both runs of a round saw the same state of the machine."""
    by_round = {run["round"]: run for run in base_runs}
    return [
        measure(run) / measure(by_round[run["round"]]) for run in runs if run["round"] in by_round
    ]


def spread(values):
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarise(name, runs, base_runs):
    """Returns the row of one server."""

    def median(value):
        return statistics.median(value(run) for run in runs)

    return {
        "server": name,
        "rounds": len(runs),
        "requests_per_second": median(lambda run: run["requests"] / run["seconds"]),
        "cpu_us_per_request": median(plain) * US,
        "wrk_us_per_request": median(lambda run: run["wrk_cpu"] / run["requests"]) * US,
        "ratio": spread(ratios(runs, base_runs, normalised)),
        "plain_ratio": spread(ratios(runs, base_runs, plain)),
        "p50_us": median(lambda run: run["p50_us"]),
        "p99_us": median(lambda run: run["p99_us"]),
        "errors": sum(run["errors"] for run in runs),
    }


def show_ratio(ratio):
    if ratio is None:
        return "-"
    return f"{ratio['median']:.2f} ({ratio['min']:.2f}..{ratio['max']:.2f})"


def show_latency(microseconds):
    # wrk reports 0 for some percentiles of pipelined runs.
    return f"{microseconds / 1e3:.2f}" if microseconds else "-"


COLUMNS = (
    ("server", lambda row: row["server"]),
    ("ratio (min..max)", lambda row: show_ratio(row["ratio"])),
    ("plain ratio", lambda row: show_ratio(row["plain_ratio"])),
    ("CPU us/req", lambda row: f"{row['cpu_us_per_request']:.2f}"),
    ("wrk us/req", lambda row: f"{row['wrk_us_per_request']:.2f}"),
    ("req/s", lambda row: f"{row['requests_per_second']:.0f}"),
    ("p50 ms", lambda row: show_latency(row["p50_us"])),
    ("p99 ms", lambda row: show_latency(row["p99_us"])),
    (
        "syscalls/req",
        lambda row: (
            "-" if row.get("syscalls_per_request") is None else f"{row['syscalls_per_request']:.2f}"
        ),
    ),
    ("errors", lambda row: str(row["errors"])),
)


def table(heads, rows):
    """Returns a Markdown table with aligned columns, so that it reads well in a terminal too."""
    widths = [max(len(cells[i]) for cells in [heads, *rows]) for i in range(len(heads))]
    lines = []
    for cells in [heads, ["-" * width for width in widths], *rows]:
        padded = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        ]
        lines.append("| " + " | ".join(padded) + " |")
    return "\n".join(lines)


def comparison(rows):
    return table(
        [head for head, _ in COLUMNS], [[show(row) for _, show in COLUMNS] for row in rows]
    )


def own_ceilings(runs, measure):
    """Returns the ratio of each skua server to the raw server of its back end, if both were run."""
    found = []
    for name, own in runs.items():
        ceiling = name.replace("skua-", "raw-", 1)
        if name.startswith("skua-") and own and runs.get(ceiling):
            found.append((name, ceiling, spread(ratios(own, runs[ceiling], measure))))
    return found
