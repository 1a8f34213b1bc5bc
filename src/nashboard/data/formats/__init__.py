"""The formats that nashboard reads, the most particular first; the first that fits is taken.

To add one: write its reader, and declare it in the list below.
"""

from typing import Any

from nashboard._text import listed, nearest, shortened
from nashboard.data.formats import (
    arena,
    games,
    harnesses,
    leaderboards,
    lm_eval,
    long_scores,
    match_tables,
    matrices,
    wide_scores,
)
from nashboard.data.formats.format import (
    GAME_OPTIONS,
    HARNESS_OPTIONS,
    LONG_OPTIONS,
    MATCH_OPTIONS,
    MOST_LOOKED_AT,
    SCORE_OPTIONS,
    WIDE_OPTIONS,
    Format,
    Input,
    has,
    holds_any,
)
from nashboard.data.sources.frames import is_record_list
from nashboard.data.table.columns import AGENT, find_usual
from nashboard.errors import InputError

SCORED_OPTIONS = tuple(name for name in MATCH_OPTIONS if name not in ("outcome", "outcomes"))
WON_OPTIONS = tuple(name for name in SCORED_OPTIONS if name not in ("a", "b"))
AGENT_OPTIONS = ("min_games", "components", "bad_rows")
WIDE = Format("scores-wide", "scores", "a row per agent, a column per task",
              wide_scores.fits_wide, wide_scores.read_wide, WIDE_OPTIONS)  # fmt: skip
# fmt: off
FORMATS: tuple[Format, ...] = (
    # by the kind or the content of files
    Format("pgn", "matches", "chess games in PGN",
           lambda x: x.kind == "pgn", lambda x: games.read_games(x, games.iterate_pgn, "pgn"),
           GAME_OPTIONS, on_frames=False),
    Format("cutechess", "matches", "the log that cutechess prints",
           lambda x: x.kind == "cutechess", lambda x: games.read_games(x, games.iterate_cutechess, "cutechess"),
           GAME_OPTIONS, on_frames=False),
    Format("inspect", "scores", "logs of Inspect, json or .eval: a score per agent and task",
           harnesses.fits_logs, harnesses.read_tasks, HARNESS_OPTIONS, on_frames=False),
    Format("inspect-samples", "scores", "logs of Inspect, a score per agent and sample (only if asked for)",
           lambda x: False, harnesses.read_samples, HARNESS_OPTIONS, on_frames=False),
    Format("lm-eval", "scores", "results of lm-evaluation-harness of every generation: a file, or a folder of them",
           lm_eval.fits_results, lm_eval.read_results, HARNESS_OPTIONS, on_frames=False),
    Format("lm-eval-samples", "scores", "samples of lm-evaluation-harness: a score per agent and item",
           lm_eval.fits_samples, lm_eval.read_samples, HARNESS_OPTIONS, on_frames=False),
    Format("every-eval-ever", "scores", "Every Eval Ever records, one file or a folder",
           lambda x: holds_any(x, harnesses.is_record, "*.json"), harnesses.read_records,
           HARNESS_OPTIONS, on_frames=False),
    # by their columns
    Format("lmarena", "matches", "LMArena battles, 2024 and later; votes of a session are a cluster",
           has("model_a", "model_b", "winner", "evaluation_session_id"),
           lambda x: match_tables.read_table(x, "lmarena", a="model_a", b="model_b", outcome="winner",
                                             cluster="evaluation_session_id")),
    Format("chatbot-arena", "matches", "Chatbot Arena clean battles",
           lambda x: x.has("model_a", "model_b", "winner") and (x.has("anony") or x.has("dedup_tag")),
           arena.read_chatbot_arena),
    Format("kaggle", "matches", "Kaggle 55k: one-hot outcome",
           has("model_a", "model_b", *arena.ONE_HOT), arena.read_kaggle),
    Format("alpaca-eval", "matches", "AlpacaEval annotations",
           has("generator_1", "generator_2", "preference"), arena.read_alpaca_eval),
    Format("arena-hard", "matches", "arena-hard judgments",
           lambda x: x.kind != "delimited" and x.has("model", "games") and (x.has("baseline") or x.has("judge")),
           arena.read_arena_hard),
    Format("mt-bench", "matches", "MT-bench pair judgments",
           has("model_1", "model_2", "g1_winner", "g2_winner"), arena.read_mt_bench),
    Format("mt-bench-grades", "scores", "MT-bench grades of single answers, a row per model, question and turn",
           has("question_id", "model", "judgment", "score", "turn"), leaderboards.read_mt_bench_grades, LONG_OPTIONS),
    Format("voters", "matches", "votes with voters: left, right, winner, worker; votes with the same id are a cluster",
           has("left", "right", "winner", "id", "worker"),
           lambda x: match_tables.read_table(x, "voters", a="left", b="right", outcome="winner", cluster="id")),
    Format("evalica", "matches", "evalica csv: left, right, winner",
           has("left", "right", "winner"), lambda x: match_tables.read_table(x, "evalica")),
    Format("esportsbench", "matches", "EsportsBench",
           has("competitor_1", "competitor_2", "outcome"), lambda x: match_tables.read_table(x, "esportsbench")),
    Format("winner-loser", "matches", "a row per match with its winner and its loser",
           match_tables.fits_winner_loser, match_tables.read_winner_loser, WON_OPTIONS),
    Format("two-scores", "matches", "a row per match with the scores, goals or points of both sides",
           match_tables.fits_two_scores, match_tables.read_two_scores, SCORED_OPTIONS),
    Format("pair-counts", "matches", "wins, draws and losses per pair of agents",
           match_tables.fits_pair_counts, match_tables.read_pair_counts),
    Format("pair-rates", "matches", "a win rate per pair of agents, and its number of games",
           match_tables.fits_pair_rates, match_tables.read_pair_rates, SCORED_OPTIONS),
    Format("opencompass", "scores", "an OpenCompass summary",
           has(*leaderboards.OPENCOMPASS_KEYS), leaderboards.read_opencompass, SCORE_OPTIONS),
    Format("open-llm-leaderboard", "scores", "the table of the Open LLM Leaderboard",
           has("Model", "IFEval", "IFEval Raw"), leaderboards.read_open_llm, WIDE_OPTIONS),
    Format("alpaca-eval-leaderboard", "scores", "the leaderboard of AlpacaEval: a win rate with its error",
           has("win_rate", "n_wins", "n_wins_base", "n_draws", "n_total"), leaderboards.read_alpaca_board,
           ("agent", "metric", *SCORE_OPTIONS)),
    Format("livecodebench", "scores", "LiveCodeBench performances, a row per model and question",
           has("question_id", "model", "pass@1"), leaderboards.read_livecodebench, LONG_OPTIONS),
    Format("wmt-mqm", "scores", "MQM scores of WMT, a row per system and segment",
           has("system", leaderboards.MQM), leaderboards.read_mqm, LONG_OPTIONS),
    Format("helm", "scores", "HELM groups",
           leaderboards.is_helm, leaderboards.read_helm, SCORE_OPTIONS, on_frames=False),
    Format("wildbench", "matches", "WildBench pairwise counts against a baseline",
           lambda x: leaderboards.is_wildbench_document(x.document), leaderboards.read_wildbench, AGENT_OPTIONS,
           on_frames=False),
    # by what they look like
    Format("rliable", "scores", "a score dictionary, agent -> runs x tasks, as npz or json",
           matrices.fits_arrays, matrices.read_arrays, ("lower_is_better", "bad_rows"), on_frames=False),
    Format("payoff-matrix", "payoffs", "a square table, agents by agents: payoffs, win rates or counts of wins",
           matrices.is_named_matrix, matrices.read_matrix, ("symmetrise", "separator", *AGENT_OPTIONS)),
    Format("scores-by-task", "scores", "a row per task, a column per agent",
           wide_scores.fits_by_task, wide_scores.read_by_task, ("ignore", *SCORE_OPTIONS)),
    Format("matches", "matches", "any table with two agents and an outcome per row",
           match_tables.fits_generic, match_tables.read_generic),
    Format("scores-long", "scores", "a row per agent, task and run",
           lambda x: bool(x.columns) and long_scores.is_long(x.columns, x.options), long_scores.read_long,
           ("cluster", *LONG_OPTIONS)),
    WIDE,
)
# fmt: on


def find_format(name: str) -> Format:
    """Return the format of that name, or raise an error that lists them."""
    for entry in FORMATS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in FORMATS]
    raise InputError(f"there is no format {name!r}{nearest(name, names)}: there are {listed(names, 99)}")


def recognise(source: Input) -> tuple[Format, Input]:
    """Return the first format that fits, and the source as it is read: with the cells of objects, if it needs them."""
    refuse_results(source)
    entry = next((entry for entry in FORMATS if entry.fits(source)), None)
    if entry in (None, WIDE) and (flat := source.flat) is not None:
        inside = next((entry for entry in FORMATS if entry.on_frames and entry.fits(flat)), None)
        named = find_usual(AGENT, flat.columns) and not find_usual(AGENT, source.plain_columns)
        if inside is not None and (inside is not WIDE or named):
            return inside, flat
    if entry is not None:
        return entry, source
    if source.kind == "directory":
        raise InputError(
            f"{source.name!r} is a folder without tables, games (pgn) or results of a harness that is known: name the "
            f"files, such as '{source.name}/*.json'"
        )
    if source.is_document:
        source.require_document()  # says where it is broken
    what = "a json document" if source.is_document else f"a {source.kind or 'Python'} source"
    raise InputError(
        f"{source.name!r} is {what} in no known layout: looked for harness results, a list of records, scores by agent "
        f"and arrays of runs{describe_closest(source.document)}"
    )


def refuse_results(source: Input) -> None:
    """Raise an error for what a command of nashboard wrote: its tables look like data."""
    content = source.document if source.is_document else None
    schema = content.get("schema") if isinstance(content, dict) else None
    if isinstance(schema, str) and schema.startswith("nashboard/"):
        kind = schema.split("/")[1]
        readers = ": nashboard report and nashboard changes read it" * (kind == "evaluation")
        raise InputError(f"{source.name!r} is a result of nashboard ({kind}), not data{readers}")


def describe_closest(content: Any) -> str:
    """Return what a json document is closest to: a list of records further down, or an object of objects."""
    found: list[tuple[tuple[str, ...], Any]] = [((), content)]
    for path, value in found:
        if len(found) > MOST_LOOKED_AT:
            break
        if is_record_list(value):
            return f"; closest is the list of records in {' > '.join(path)!r}: save it as a file of its own"
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        found += [((*path, shortened(str(key))), part) for key, part in inside if isinstance(part, dict | list)]
    is_tree = isinstance(content, dict) and isinstance(next(iter(content.values()), None), dict)
    return "; closest are scores by agent, but their cells are lists or objects" if is_tree else ""
