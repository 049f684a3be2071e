"""Developer commands for every operating system: `python dev.py check`. With make, `make check` is the same.

A command installs what it needs into `.venv`, once. `python dev.py --help` lists the commands.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
LOCKED = ROOT / "constraints.txt"
VENV = ROOT / os.environ.get("VENV", ".venv")
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
# One polars thread for each of the processes that run tests.
POLARS_THREADS = {"POLARS_MAX_THREADS": "1"}


VERSIONS = {
    "floor": (),
    "locked": ("--constraint", str(LOCKED)),
    "newest": ("--upgrade",),
    # The last polars before 2 warns of calls that mean something else in 2.
    "polars-1": ("polars<2",),
}
"""The versions of the dependencies that `fast` runs with, as arguments of pip."""
TESTS = ("-m", "pytest", "--ignore=tests/peers", "--dist=loadgroup")
"""tests/peers compares with other libraries, which `peers` installs."""
FAST = (*TESTS, "tests", "README.md", "-m", "not slow")
"""The tests that are not marked `slow`, and the examples of README.md."""
GENERATED = (
    "docs/metrics.py",
    "docs/option_tables.py",
    "docs/public_surface.py",
)
"""The scripts that write pages and snapshots from the code."""
COMMANDS: dict[str, Callable[..., None]] = {}


def command(function: Callable[..., None]) -> Callable[..., None]:
    COMMANDS[function.__name__] = function
    return function


@command
def demo() -> None:
    """Run the example."""
    run(install("examples"), "examples/digits_report.py")


@command
def check() -> None:
    """Run ruff, mypy, the fast tests and the examples of the README."""
    python = install("dev")
    check_style(python)
    # Without its cache, mypy takes as long as half of the tests.
    with ThreadPoolExecutor() as pool:
        types = pool.submit(
            subprocess.run, [tool(python, "mypy")], cwd=ROOT, capture_output=True, encoding="utf-8"
        )
        run(python, *FAST, "--numprocesses=2", **POLARS_THREADS)
    print(types.result().stdout, end="")
    if types.result().returncode:
        raise SystemExit(types.result().returncode)


@command
def test() -> None:
    """Run ruff, mypy, all tests and all examples of the docs."""
    lint()
    run(install("dev"), *TESTS, "--numprocesses=auto", **POLARS_THREADS)


@command
def peers() -> None:
    """Compare with other libraries: tests/peers, in the environment of the extra `peers`."""
    options = ["--quiet", "--numprocesses=auto", "--dist=loadgroup"]
    run(environment("peers"), "-m", "pytest", "tests/peers", *options, **POLARS_THREADS)


@command
def fast(*arguments: str) -> None:
    """Run the fast tests on other versions: floor, locked, newest or polars-1."""
    run(environment(*arguments), *FAST, "--quiet", "--numprocesses=auto", **POLARS_THREADS)


@command
def environment(*arguments: str) -> Path:
    """Make the environment of `fast` or `peers`, and run nothing in it."""
    if arguments == ("peers",):
        return install("peers")
    if len(arguments) != 1 or arguments[0] not in VERSIONS:
        raise SystemExit(f"which versions: {', '.join(VERSIONS)}?")
    if arguments[0] != "floor":
        return install("fast", *VERSIONS[arguments[0]])
    VENV.mkdir(parents=True, exist_ok=True)
    lowest = VENV / "floor.txt"
    script = [sys.executable, ROOT / ".ci" / "minimum_versions.py"]
    lowest.write_bytes(subprocess.run(script, stdout=subprocess.PIPE, check=True).stdout)
    return install("fast", "--constraint", str(lowest))


@command
def coverage() -> None:
    """Run the fast tests and report which lines they cover."""
    options = ["--cov=frame_pr", "--cov-report=term:skip-covered", "--cov-fail-under=93"]
    run(install("dev"), *FAST, "--quiet", "--numprocesses=auto", *options, **POLARS_THREADS)


@command
def fuzz(*arguments: str) -> None:
    """Compare random cases with exact answers: --cases 100000, --seed 7."""
    run(
        install("dev"),
        "-m",
        "fuzz",
        *arguments,
        PYTHONPATH=f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
        **POLARS_THREADS,
    )


@command
def lint() -> None:
    """Run ruff, the contract of the layers, and mypy."""
    python = install("dev")
    check_style(python)
    run(tool(python, "mypy"))


def check_style(python: Path) -> None:
    run(tool(python, "ruff"), "check", ".")
    run(tool(python, "ruff"), "format", "--check", ".")
    run(tool(python, "lint-imports"), "--no-cache", "--no-logo")


@command
def workflows() -> None:
    """Check .github/workflows with actionlint and zizmor."""
    python = install("workflows")
    files = sorted(str(path) for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    run(tool(python, "actionlint"), *files)
    run(tool(python, "zizmor"), "--offline", "--persona=pedantic", ".github")


@command
def generate() -> None:
    """Rewrite the pages and snapshots that follow from the code."""
    python = install("dev")
    for script in GENERATED:
        run(python, script)


@command
def docs() -> None:
    """Check that generated files are current, draw the plots, build the pages into docs/_build, and check those."""
    python = install("dev")
    run(tool(python, "typos"))
    before = generated_texts()
    generate()
    changed = [
        str(path.relative_to(ROOT))
        for path, text in generated_texts().items()
        if before.get(path) != text
    ]
    if changed:
        raise SystemExit(f"these were not current, and are now: {', '.join(changed)}")
    run(
        python, "-W", "ignore::DeprecationWarning", "examples/gallery.py", stdout=subprocess.DEVNULL
    )
    run(tool(python, "sphinx-build"), "-q", "-E", "-W", "--keep-going", "docs", "docs/_build")
    run(python, ".ci/axe.py", "docs/_build")
    print("docs/_build/index.html")


def generated_texts() -> dict[Path, bytes]:
    """The files that `generate` may rewrite."""
    places = (
        "*.md",
        "*.cff",
        "docs/**/*.md",
        "docs/**/*.svg",
        "examples/*.ipynb",
        "frame_pr/**/*.py",
        "docs/*.txt",
    )
    return {
        path: path.read_bytes()
        for place in places
        for path in ROOT.glob(place)
        if "_build" not in path.parts
    }


@command
def package() -> None:
    """Build wheel and sdist into dist/, check them, and install them into empty environments."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        # Without [md], readme_renderer accepts every README.
        tools = make(Path(work, "tools"), "build", "twine", "readme_renderer[md]")
        print("== build", flush=True)
        log = Path(work, "build.txt")
        with log.open("wb") as output:
            ran = subprocess.run(
                [tools, "-m", "build", "--outdir", "dist", "."],
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )
        if ran.returncode:
            raise SystemExit(log.read_text(encoding="utf-8", errors="replace"))
        built = sorted((ROOT / "dist").iterdir())
        run(tool(tools, "twine"), "--no-color", "check", "--strict", *map(str, built))
        run(tools, ".ci/package_contents.py", "dist")
        sdist, wheel = (
            next(path for path in built if path.name.endswith(end)) for end in (".tar.gz", ".whl")
        )
        extras_of_wheel = ("", "[pandas,plot]", "[dask]")
        trials = [*((wheel, extras) for extras in extras_of_wheel), (sdist, ""), (ROOT, "")]
        for number, (source, extras) in enumerate(trials):
            print(f"== install {source.name}{extras}", flush=True)
            editable = ["--editable"] if source == ROOT else []
            python = make(Path(work, str(number)), *editable, f"{source}{extras}")
            # From another folder, where the sources are not on the path.
            run(
                python,
                "-W",
                "error",
                str(ROOT / ".ci" / "package_use.py"),
                extras,
                *editable,
                cwd=work,
            )


@command
def bench(*arguments: str) -> None:
    """Measure time and memory: --base CHECKOUT compares, --peers adds libraries, --write fills benchmarks/REPORT.md."""
    run(install("bench"), "-m", "benchmarks", *arguments)


@command
def notes(*arguments: str) -> None:
    """Print the section of CHANGELOG.md on the version of a tag, such as v0.1.0."""
    version = "".join(arguments).removeprefix("v")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if version != project["version"]:
        raise SystemExit(f"the version is {project['version']} in pyproject.toml, not {version}")
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"(?ms)^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |^\[|\Z)", text)
    if section is None:
        raise SystemExit(f"CHANGELOG.md has no section [{version}]")
    sys.stdout.reconfigure(encoding="utf-8")
    print(section[1].strip())


@command
def clean() -> None:
    """Remove `.venv`, caches and builds."""
    caches = (
        ".hypothesis",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "build",
        "dist",
        "docs/_build",
        "docs/api",
    )
    compiled = [path for path in ROOT.rglob("__pycache__") if VENV not in path.parents]
    for path in (VENV, *(ROOT / cache for cache in caches), *compiled):
        shutil.rmtree(path, ignore_errors=True)


def install(extra: str, *pip: str) -> Path:
    """The Python of the environment, with the extra: installed once, and again when the dependencies change."""
    stamp = VENV / f".{extra}"
    changed = max(file.stat().st_mtime for file in (ROOT / "pyproject.toml", LOCKED))
    if not stamp.exists() or stamp.stat().st_mtime < changed:
        print(f"Installing into {VENV}, once.", flush=True)
        make(VENV, *(pip or ("--constraint", str(LOCKED))), "--editable", f"{ROOT}[{extra}]")
        stamp.touch()
    return python_of(VENV)


def make(venv: Path, *pip: str) -> Path:
    """The Python of an environment, in which pip has installed this."""
    run(sys.executable, "-m", "venv", venv)
    # Most of what is installed is never imported: compiling all of it takes longer than the rest.
    run(python_of(venv), *PIP, "install", "--no-compile", *pip)
    return python_of(venv)


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def tool(python: Path, name: str) -> Path:
    return python.with_name(name + python.suffix)


def run(
    program: str | Path,
    *arguments: str | Path,
    cwd: str | Path = ROOT,
    stdout: int | None = None,
    **variables: str,
) -> None:
    """Run a program, and end with its exit status if it fails."""
    # Tests start many processes, each of which would compile what it imports anew.
    environ = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environ["PYTHONUTF8"] = "1"  # tables of polars go to a pipe, on Windows too
    ran = subprocess.run([program, *arguments], cwd=cwd, env=environ | variables, stdout=stdout)
    if ran.returncode:
        raise SystemExit(ran.returncode)


def main() -> None:
    lines = [f"  {name:<12}{function.__doc__}" for name, function in COMMANDS.items()]
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="commands:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="command")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the command")
    read = parser.parse_args(sys.argv[1:] or ["--help"])
    COMMANDS[read.command](*read.arguments)


if __name__ == "__main__":
    main()
