"""where: which directory is used, and which rule said so."""

from __future__ import annotations

import os

import click

from memdir.app import state_folder
from memdir.surfaces.cli.answers import Fields, finding_fields, finding_lines
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import visible


@command("where", "memdir where --project ~/code/api")
@click.option("--path", "only_path", is_flag=True, help="Print the directory and nothing else.")
def where(session: Session, only_path: bool) -> None:
    """Say where the memories lie, and which rule decided.

    Also whether memory is on, and where the other scopes are.
    """
    config = session.config
    exists = {scope: os.path.isdir(path) for scope, path in config.scopes.items()}
    fields: Fields = {
        "store": config.store,
        "step": config.step,
        "scope": str(config.scope),
        "shared": config.shared,
        "exists": os.path.isdir(config.store),
        "project_name": config.project_name,
        "project_root": config.project_root,
        "enabled": config.enabled,
        "enabled_by": config.enabled_by,
        "scopes": dict(config.scopes),
        "existing": [scope for scope, there in exists.items() if there],
        "state": state_folder(config),
        "config_file": config.config_file,
        "findings": [finding_fields(finding) for finding in config.findings],
    }
    screen, short = session.screen, session.short
    rows = [
        ("store", short(config.store) + ("" if fields["exists"] else "  (not there yet)")),
        ("decided by", config.step),
        ("project", f"{config.project_name} ({short(config.project_root)})"),
        ("memory is", f"{'on' if config.enabled else 'off'} (by {config.enabled_by})"),
        ("history, trash", short(state_folder(config))),
        ("settings", short(config.config_file)),
    ]
    lines = [text for name, value in rows for text in screen.block(f"{name + ':':15}", value, "")]
    lines += ["", "scopes (* exists):"]
    for scope, path in config.scopes.items():
        mark = "*" if exists[scope] else " "
        lines += screen.block(f"{mark} {scope:11}", short(path))
    lines += ["", *finding_lines(screen, config.findings)] if config.findings else []
    screen.answer(fields, [visible(config.store)] if only_path else lines)
