"""Shop sells."""
import os
from typing import overload

# LIMIT is how much fits.
LIMIT: int = 10
LIMIT = 11
a, b = 1, 2
_hidden = None  # not shown


# Cart holds things.
@dataclass(frozen=True)
class Cart(Base, metaclass=Meta):
    """Docs."""

    size: int = 0

    # total adds up.
    @property
    @cached(
        size=3,
    )
    def total(self, tax: float = 0.2, *, deep=None) -> int:  # trailing
        def inner():
            return 1
        return sum(x for x in self.items) + tax

    async def load(self):
        async with x as y:
            pass

    class Inner:
        def deep(self): return 1


if os.name == "nt":
    def path(): return "a"
else:
    def path(): return "b"

type Pair[T] = tuple[T, T]

async def new[T](*of: T, **kw) -> Cart:
    text = """
  left
"""
    match of:
        case []:
            return Cart()
    return f"{of!r:>{10}} {'x' + "y"}"
