"""The list of parts of a release in CycloneDX: the core's, the extras' and those inside the wheel, the same bytes for the same locks and commit."""

import json
import uuid
from datetime import UTC, datetime
from importlib.metadata import distribution
from typing import Any

import vl_convert

from tests.release.licences import bundled, licence_of
from tests.release.parts import CORE, ELSEWHERE, PROJECT, Part, brought, installed, parts

SPEC = "1.6"
OURS = f"pkg:pypi/{PROJECT['name']}@{PROJECT['version']}"
SCRIPT = "apportion/web/static/vega.js"


def sbom(made_s: int) -> dict[str, Any]:
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made_s, UTC).isoformat(),
            "component": {
                "type": "application", "bom-ref": OURS, "purl": OURS, "name": PROJECT["name"], "version": PROJECT["version"],
                "description": PROJECT["description"], "licenses": [{"license": {"id": PROJECT["license"]}}],
                "properties": [said("not in the locks", extra) for extra in sorted(ELSEWHERE)],
            },
        },
        "components": [*map(component, parts()), script()],
        "dependencies": dependencies(),
    }  # fmt: skip
    name = json.dumps(body, sort_keys=True)
    return {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}", **body}


def purl(part: Part) -> str:
    return f"pkg:pypi/{part.name}@{part.version}"


def said(name: str, value: str) -> dict[str, str]:
    return {"name": f"apportion:{name}", "value": value}


def component(part: Part) -> dict[str, Any]:
    return {
        "type": "library", "bom-ref": purl(part), "purl": purl(part), "name": part.name, "version": part.version,
        "scope": "required" if CORE in part.brought_by else "optional",
        "licenses": licences(licence_of(installed()[part.name])),
        "properties": [said("extra", extra) for extra in part.brought_by if extra != CORE],
    }  # fmt: skip


def licences(expression: str) -> list[dict[str, Any]]:
    if " " in expression:
        return [{"expression": expression}]
    kind = "name" if expression.startswith("LicenseRef-") else "id"
    return [{"license": {kind: expression}}]


def script() -> dict[str, Any]:
    """What vl-convert puts into one file. It tells the versions of three of the packages."""
    versions = {
        "vega": vl_convert.get_vega_version(),
        "vega-embed": vl_convert.get_vega_embed_version(),
        "vega-themes": vl_convert.get_vega_themes_version(),
    }
    inside = [
        {
            "type": "library", "bom-ref": f"{SCRIPT}#{name}", "name": name, "licenses": licences(licence),
            **({"version": versions[name], "purl": f"pkg:npm/{name}@{versions[name]}"} if name in versions else {}),
        }
        for name, licence in sorted(bundled().items())
    ]  # fmt: skip
    made_by = f"vl-convert-python {distribution('vl-convert-python').version}"
    return {
        "type": "file",
        "bom-ref": SCRIPT,
        "name": SCRIPT,
        "components": inside,
        "properties": [said("made by", made_by)],
    }


def dependencies() -> list[dict[str, Any]]:
    refs = {part.name: purl(part) for part in parts()}
    asked = sorted({name for found in brought().values() for name in found})
    direct = [refs[name] for name in asked if not any(name in part.needs for part in parts())]
    needs = {refs[part.name]: sorted(refs[name] for name in part.needs) for part in parts()}
    return [
        {"ref": ref, "dependsOn": on} for ref, on in sorted({OURS: [*sorted(direct), SCRIPT], **needs}.items()) if on
    ]
