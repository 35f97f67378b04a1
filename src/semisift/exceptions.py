"""The errors and warnings of semisift."""


class DuplicateRowsWarning(UserWarning):
    """Labelled rows are copies of each other, so that there are fewer samples than rows."""


class FallbackWarning(UserWarning):
    """Labels or pairs are lacking for a part of a score, which falls back on what there is."""


class SmallTestSetWarning(UserWarning):
    """Few labelled rows judge the methods of a comparison, so that its figures are uncertain."""


class GraphWarning(UserWarning):
    """A neighbour graph has few effective edges, so a score rests on a few pairs of rows."""


class CompiledKernelsMissingWarning(UserWarning):
    """The compiled kernels could not be built, so slower code serves."""


class LongRuntimeWarning(UserWarning):
    """A fit that has just begun will take minutes, and says what would take less."""


class NoFeatureSelectedWarning(UserWarning):
    """A rule for the number of features found none significant of them."""


class NoUnlabelledDataWarning(UserWarning):
    """Every row is labelled, so a semi-supervised method works as a supervised one."""


class SubsamplingWarning(UserWarning):
    """A method that holds its rows in memory was given a sample of rows that stay on disk."""


class OutOfCoreError(ValueError):
    """Rows that stay on disk or on a cluster cannot be used; the message names the chunk."""


class TableError(ValueError):
    """A file cannot be read as a table, or what it holds cannot be ranked as it stands.

    The message names the file, the place, the rule and the way out.
    """


class NovelClassWarning(UserWarning):
    """Many unlabelled rows fit no class that is labelled."""


class UnlabelledTextWarning(UserWarning):
    """Text among the labels, such as "-1" or "nan", was taken as unlabelled for its spelling.

    A row is unlabelled where its label is -1, NaN, None, ``pandas.NA``, ``pandas.NaT`` or masked.
    It is unlabelled as well where its label is text that, without the spaces around it, is empty,
    "-1", "-1.0", "nan", "NaN", "None", "<NA>", "NaT", "NA", "N/A", "#N/A", "NULL", "null" or "?".
    The warning names the text and counts its rows. A class that is spelled so needs another name.
    """


class WorkerLostError(RuntimeError):
    """Processes or machines at work are gone; of a comparison, what they had finished is kept."""
