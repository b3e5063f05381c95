# SPDX-License-Identifier: MIT
"""How long a run takes: what is expected, corrected by how long its first scenarios took."""

import statistics

from . import beside, idle, loads, measure, peers, perform, scenarios

RUN = 0.15  # seconds in addition to the load's duration
START = 0.1  # a server starts, is checked and ends
S_TIME = 0.5  # more than it is told: it stops when a second ends
SETTLE = 0.7  # memory, twice
COUNT = 2.5  # callgrind, twice
BUILD = 40.0  # a peer
CONNECTION = {idle.nothing: 0.0001, idle.websocket: 0.0005}  # an idle one; or:
HANDSHAKE, EXCHANGE = 0.0011, 0.00015
ROUNDS = 0.9  # of the rounds are left once those that are far behind are settled


def seconds(scenario, options):
    """Returns how long a scenario takes."""
    found = perform.competitors(scenario, options) + [one for one in [getattr(scenario, "ceiling", "")] if one]
    if isinstance(scenario, scenarios.Idle):
        usual = HANDSHAKE if scenario.transport == "tls" else EXCHANGE
        return len(found) * (START + SETTLE + (idle.WARM + perform.idle_connections(scenario, options)) * CONNECTION.get(scenario.protocol, usual))
    if isinstance(scenario, scenarios.Rate):
        return len(found) * (START + RUN + perform.RATE_SECONDS)
    if isinstance(scenario, scenarios.Beside):
        return len(found) * (START + options.rounds * len(beside.phases(options.quick)) * (perform.beside_seconds(options) + RUN))
    rounds = options.rounds if options.rounds == 1 else options.rounds * ROUNDS
    if isinstance(scenario, scenarios.Generators):
        return START + len(found) * rounds * (options.seconds + RUN)
    duration = options.seconds * scenario.duration + (S_TIME if isinstance(scenario.load, loads.Handshakes) else 0)
    duration = max(duration, getattr(scenario.load, "least_seconds", 0))
    calls = measure.COUNTED_SECONDS + RUN if perform.counts_calls(scenario, options) else 0
    counted = COUNT * len(set(found) & set(perform.COUNTABLE)) if scenario.counts_instructions and not options.quick else 0
    return len(found) * (START + calls + rounds * (duration + RUN)) + counted


def builds(options, cache):
    """Returns how long the peers take that have yet to be built."""
    return BUILD * sum(name in peers.PEERS and not peers.is_built(name, cache) for name in options.names)


class Left:
    """The time that is left of a run."""

    def __init__(self, chosen, options):
        self.expected = {one.name: seconds(one, options) for one in chosen}
        self.factors = []

    def took(self, name, actual):
        self.factors.append(actual / self.expected.pop(name))

    def seconds(self):
        factor = statistics.median(self.factors) if len(self.factors) > 2 else 1.0  # the first scenario builds peers
        return factor * sum(self.expected.values())


def minutes(count):
    return f"about {count / 60:.0f} min" if count >= 90 else f"about {count:.0f} s"
