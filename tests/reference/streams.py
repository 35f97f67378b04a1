"""Counter-based random streams: every draw is a pure function of (seed, member, purpose, j)."""

GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1

SUBSPACE = 0
LABELLED_BAG = 1
UNLABELLED_BAG = 2
TIES = 3
PERMUTATION = 4
NODE_SUBSPACE = 5


def mix(z):
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    z &= MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream_key(seed, member, purpose):
    return mix(mix(seed + GOLDEN * (member + 1)) + GOLDEN * (purpose + 1))


def word(key, c):
    """The c-th 64-bit word of a stream, c = 0, 1, 2, ..."""
    return mix(key + GOLDEN * (c + 1))


def bounded(key, j, n):
    """The j-th draw below n: two draws a word, the low half first."""
    w = word(key, j // 2)
    h = w & 0xFFFFFFFF if j % 2 == 0 else w >> 32
    return (h * n) >> 32


def distinct(key, n):
    """Yield the draws below n, each value the first time it appears, until all n were seen."""
    seen = set()
    j = 0
    while len(seen) < n:
        value = bounded(key, j, n)
        j += 1
        if value not in seen:
            seen.add(value)
            yield value
