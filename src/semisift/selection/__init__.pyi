from semisift.selection._result import RankingResult as RankingResult
from semisift.selection._result import ranking_result as ranking_result
