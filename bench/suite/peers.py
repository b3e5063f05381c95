import dataclasses
class Unavailable(Exception): ...
@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    offers: frozenset
PEERS = {}
def command(*a, **k): raise Unavailable("")
def client_command(name, cache): raise Unavailable(f"{name}: not here")
