"""Rankers that stand on several others."""

from semisift.registry.entries import Method

CONSENSUS = [
    Method(
        name="consensus",
        summary="The mean place of a feature with ssfi, sselect, enscls and c4.",
        path="semisift.consensus.consensus:Consensus",
        family="consensus",
        citation=(
            "Breitling, Armengaud, Amtmann, Herzyk (2004). Rank products. FEBS Letters 573. For "
            "the product of ranks; which methods to ask was chosen by our own measurements."
        ),
        cost="the sum of its parts: ssfi, sselect, enscls and c4",
        source="reading",
        meaning=(
            "Several methods that err in different ways rank the features, and the score is the "
            "mean of the places they give, on a logarithmic scale: 1 is the first place with all "
            "of them, 0 the last. A high score says that the methods agree, not how much better a "
            "feature is than the next. Whether they agree on more than chance is what the test "
            "with shuffled labels tells."
        ),
    ),
]
