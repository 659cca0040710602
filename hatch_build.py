"""Makes the charts' script when the package is built: Vega-Lite and what it needs in one file, so that pages ask nobody else for it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VEGA_LITE = "6.4"
SCRIPT = "src/apportion/web/static/vega.js"


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling names no type for its own settings
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version, build_data
        script = Path(self.root, SCRIPT)
        first = f"/* Vega-Lite {VEGA_LITE} */\n"
        if script.exists() and script.read_text("utf-8").startswith(first):
            return
        from vl_convert import javascript_bundle  # noqa: PLC0415  # it takes a second, and only here

        script.write_text(first + javascript_bundle(vl_version=VEGA_LITE), "utf-8")
