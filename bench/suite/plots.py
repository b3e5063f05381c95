# SPDX-License-Identifier: MIT
"""SVG plots of results: a file for each group, and an overview. They follow the reader's colour scheme."""

import html
import math

from . import report, scenarios

COLOURS = {  # by class: light, dark
    "text": ("#1f2328", "#e6edf3"), "muted": ("#656d76", "#8d96a0"), "grid": ("#d0d7de", "#30363d"), "own": ("#0969da", "#4493f8"),
    "ceiling": ("#8c959f", "#6e7681"), "other": ("#bf8700", "#d29922"), "back": ("#ffffff", "#0d1117"),
}
WIDTH = 820
LABEL = 130
ROW = 20
SIZE = 12
HELLO = "plaintext-64"  # stands for all in the README
MOST_BARS = 14


def kind_of(name):
    return "own" if name.startswith("skua-") else "ceiling" if report.is_ceiling(name) else "other"


def style():
    """Returns the colours of all classes."""
    light, dark = ("".join(f".{name}{{fill:{pair[i]};stroke:{pair[i]}}}" for name, pair in COLOURS.items()) for i in (0, 1))
    return f"<style>text{{stroke:none!important}}{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"


def text(x, y, words, colour, anchor="start", weight="normal", size=SIZE):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{colour}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}">{html.escape(words)}</text>'


def document(height, parts, title):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
            f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"><title>{html.escape(title)}</title>'
            f'{style()}<rect width="{WIDTH}" height="{height}" class="back"/>' + "\n".join(parts) + "</svg>\n")


def value_of(scenario, row):
    """Returns the length of a row's bar and its label, or None if the row is not ranked."""
    if scenario["kind"] == "idle":
        return row["bytes"], f"{row['bytes']:,.0f} B"
    if any(row["errors"].values()):
        return None
    if scenario["kind"] == "beside":
        worst = max(ratio["median"] for ratio in row["beside"].values())
        return worst, f"{worst:.2f}x at worst"
    if scenario["kind"] == "rate":
        return row["latency_us"].get("p99") or 0, f"p99 {report.show_ms(row['latency_us'].get('p99'))} ms"
    label = f"{report.small(row['cpu_us'])} us"
    return row["cpu_us"], label + (f", {row['ratio']['median']:.2f}x" if row["ratio"] else "")


def bars(scenario, top):
    """Returns the parts of one panel, and its height: a bar for each ranked competitor."""
    rows = [(row["name"], *value) for row in scenario["rows"] if (value := value_of(scenario, row))][:MOST_BARS]
    parts = [text(0, top + 14, scenario["title"], "text", weight="600", size=13)]
    room = WIDTH - LABEL - 130
    most = max((value for _, value, _ in rows), default=0) or 1
    y = top + 26
    for name, value, label in rows:
        width = max(value / most * room, 1)
        parts.append(text(LABEL - 8, y + 13, name, "text", "end"))
        parts.append(f'<rect x="{LABEL}" y="{y + 2}" width="{width:.1f}" height="{ROW - 6}" rx="2" class="{kind_of(name)}"/>')
        parts.append(text(LABEL + width + 6, y + 13, label, "muted"))
        y += ROW
    return parts, y - top + 14


def group_plot(title, found):
    parts, y = [], 8
    for scenario in found:
        panel, height = bars(scenario, y)
        parts += panel
        y += height
    return document(y, parts, title)


def overview(found):
    """Draws a line for each scenario with a dot for each competitor: its CPU as a multiple of that of skua's better back end, on a logarithmic scale."""
    lines = []
    for scenario in found:
        ranked = {row["name"]: row["ratio"]["median"] for row in scenario["rows"] if row.get("ratio") and not report.is_ceiling(row["name"])}
        own = [value for name, value in ranked.items() if kind_of(name) == "own"]
        if own and len(ranked) > len(own):
            lines.append((scenario["title"], {name: value / min(own) for name, value in ranked.items()}))
    most = max((max(dots.values()) for _, dots in lines), default=2)
    least = min(0.8, min((min(dots.values()) for _, dots in lines), default=1))
    left, right, label = 370, WIDTH - 20, 360

    def x(value):
        return left + (math.log(value) - math.log(least)) / (math.log(most) - math.log(least)) * (right - left)

    height = 60 + ROW * len(lines)
    parts = [text(0, 18, "CPU time as a multiple of skua's, lower is better", "text", weight="600", size=13)]
    for tick in (one for one in (0.5, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500) if least <= one <= most):
        kind = "own" if tick == 1 else "grid"
        parts.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="44" y2="{height - 10}" class="{kind}"/>')
        parts.append(text(x(tick), 38, f"{tick:g}x", "muted", "middle", size=11))
    for number, (title, dots) in enumerate(lines):
        y = 60 + number * ROW
        parts.append(text(label - 6, y + 4, title, "text", "end", size=11))
        nearest = min((name for name in dots if kind_of(name) == "other"), key=dots.get)
        for name, value in dots.items():
            parts.append(f'<circle cx="{x(value):.1f}" cy="{y}" r="4" class="{kind_of(name)}" fill-opacity="0.8"><title>{html.escape(name)} {value:.2f}x</title></circle>')
        parts.append(text(x(dots[nearest]) + 7, y + 4, nearest, "muted", size=10))
    return document(height, parts, "CPU time as a multiple of skua's")


def write_all(results, folder):
    """Writes GROUP.svg for each group, overview.svg, and hello.svg: the panel that stands for all."""
    for group, title, found in report.by_group(results, scenarios.GROUPS):
        (folder / f"{group}.svg").write_text(group_plot(title, found), encoding="utf-8")
    if hello := results["scenarios"].get(HELLO):
        (folder / "hello.svg").write_text(group_plot("CPU per request", [hello]), encoding="utf-8")
    ranked = [one for one in results["scenarios"].values() if one["kind"] == "load" and one["subject"] == "server"]
    if ranked:
        (folder / "overview.svg").write_text(overview(ranked), encoding="utf-8")
