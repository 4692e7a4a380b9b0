"""What an installation without extras weighs: megabytes (as uv installs, byte code not yet made) and packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Install from the lock file into a temporary environment and print its size."""
    uv = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "venv"
        subprocess.run(
            [uv, "sync", "--quiet", "--frozen", "--no-dev", "--no-editable", "--python", sys.executable],
            cwd=ROOT,
            check=True,
            env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(environment), "VIRTUAL_ENV": "", "UV_COMPILE_BYTECODE": "0"},
        )
        size = sum(file.lstat().st_size for file in environment.rglob("*") if file.is_file() and not file.is_symlink())
        packages = len(list(environment.rglob("*.dist-info")))
    megabytes = size / 1e6
    print(f"size      {megabytes:6.0f} MB  goal ≤ 200 MB: {'met' if megabytes <= 200 else 'MISSED'}")
    print(f"packages  {packages:6}     goal ≤ 65: {'met' if packages <= 65 else 'MISSED'}")


if __name__ == "__main__":
    main()
