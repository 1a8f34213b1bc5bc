"""The scripts that draw charts in a browser: Vega, Vega-Lite and Vega-Embed, as vl-convert carries them."""

from functools import cache
from importlib.metadata import version

from nashboard._cache import kept

OFFER = "window.vegaEmbed=vegaEmbed;"  # what the bundle does when it is loaded


@cache
def drawing_script() -> str:
    """Return the scripts in one; to put them together takes longer than many a page does."""
    return closed(kept("drawing.js", f"vl-convert {version('vl-convert-python')} {OFFER}", bundled))


def bundled() -> str:
    """Put the scripts together; the answer depends on the version of vl-convert only."""
    import vl_convert

    return str(vl_convert.javascript_bundle(OFFER))


def closed(script: str) -> str:
    """Return a script that cannot end the element it stands in."""
    return script.replace("</script", r"<\/script").replace("<!--", r"<\!--")
