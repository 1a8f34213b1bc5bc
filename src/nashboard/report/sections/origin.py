"""Data and versions: what was read, and what this page was made with."""

import platform
from importlib.metadata import version

from nashboard._tables import count
from nashboard.evaluation.verdict import counts_are_known
from nashboard.report.findings import Findings
from nashboard.report.parts import Part, Section, Sentences, Terms

PACKAGES = ("numpy", "scipy", "polars", "altair", "vl-convert-python")


def origin(found: Findings) -> Section:
    """Say what was read, and with what this page was made."""
    return Section(
        key="data",
        title="Data and versions",
        opening="What was read, and with which versions, so that anybody can make this page again.",
        how=(
            "The hash is a fingerprint of the names and numbers: if yours is the same, you have the same data, in "
            "whatever order. The same data, settings and versions give the same page, byte by byte.",
            "This page is one file. It loads nothing and sends nothing.",
        ),
        parts=(
            Terms(rows=data(found), caption="Data"),
            *left_out(found),
            Terms(rows=versions(found), caption="Versions"),
        ),
    )


def data(found: Findings) -> tuple[tuple[str, str], ...]:
    """Return what was read."""
    read = found.evaluation.input
    rows = [("source", str(read["source"])), ("read as", f"{found.evaluation.kind} ({read['format']})")]
    rows += [(name, count(read[name])) for name in ("agents", "tasks", "games") if read[name] is not None]
    if not counts_are_known(found.evaluation.warnings):
        rows[-1] = ("games", "not known; each pair counts as one")
    return (*rows, ("hash", str(read["hash"])))


def left_out(found: Findings) -> tuple[Part, ...]:
    """Return what was read but not used, and why."""
    data = found.evaluation.data
    if data is None or not (data.origin.left_out or data.origin.notes):
        return ()
    return (Sentences(lines=(*map(str, data.origin.left_out), *data.origin.notes), title="On the way in"),)


def versions(found: Findings) -> tuple[tuple[str, str], ...]:
    """Return the versions that the bytes of this page depend on."""
    import vl_convert

    return (
        ("nashboard", found.evaluation.version),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in PACKAGES),
        ("Vega", vl_convert.get_vega_version()),
    )
