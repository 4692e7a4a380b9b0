"""What an agent changed, as a patch: its workspace against the folder that it was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from adjudge.errors import AdjudgeError
from adjudge.ports import Machine

ORIGINAL = "/original"
SECONDS = 120.0
LARGEST = 4 << 20
"""Bytes of a patch that is kept."""

OpenStill = Callable[[Path, Mapping[str, Path], int], Machine]
"""Opens a machine on a folder, with other folders of the host at places inside, that keeps so many bytes of an output."""

# A repository of its own: whatever configuration, hooks or history the workspace has is not used, nor are its attributes.
_COMMAND = f"""\
export GIT_DIR=/tmp/patch.git GIT_ATTR_NOSYSTEM=1 GIT_CONFIG_NOSYSTEM=1
exec 2>/dev/null
git init -q && git config core.attributesFile /dev/null && git config core.quotePath false || exit 3
plain="* !diff !text !eol !crlf !ident !filter !working-tree-encoding"
mkdir -p $GIT_DIR/info && echo "$plain" > $GIT_DIR/info/attributes || exit 3
git config user.name patch && git config user.email patch@localhost
# A repository within the workspace would be one line of the patch, whatever lies in it.
before={ORIGINAL}
if [ -n "$(find $before -mindepth 2 -name .git -print -quit)" ]; then
    cp -a $before /tmp/before && before=/tmp/before || exit 4
    find $before -mindepth 2 -name .git -prune -exec rm -rf {{}} + || exit 4
fi
find . -mindepth 2 -name .git -prune -exec rm -rf {{}} + || exit 5
git --work-tree=$before add -A && git --work-tree=$before commit -q --allow-empty -m original || exit 4
# What Python compiles along the way is not the agent's work; byte code that it was given is compared as everything is.
printf '%s\\n' __pycache__/ '*.pyc' > $GIT_DIR/info/exclude || exit 5
git --work-tree=. add -A || exit 5
git --work-tree=. diff --cached --no-color --no-ext-diff --no-textconv HEAD
"""


async def patch_between(original: Path, left: Path, open_still: OpenStill) -> tuple[str | None, str | None]:
    """The patch that leads from one folder to the other, or `None` and why there is none.

    What the workspace's own `.gitignore` names is left out of it, and so is Python's byte code, unless it was there at
    first; repositories within the workspace are looked into. Git runs in a sandbox, as both folders are untrusted.
    """
    try:
        machine = open_still(left, {ORIGINAL: original}, LARGEST)
    except AdjudgeError as error:
        return None, f"no patch: {error}"
    try:
        output = await machine.run(_COMMAND, SECONDS)
    except AdjudgeError as error:
        return None, f"no patch: {error}"
    finally:
        await machine.close()
    if output.ended or output.cut:
        return None, f"no patch: it is longer than {LARGEST >> 20} MiB, or takes longer than {SECONDS:.0f} s to make"
    if output.exit_status:
        return None, f"no patch: git ended with exit status {output.exit_status}"
    return output.text or None, None
