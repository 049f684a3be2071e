"""Commands for developers, such as `python3 dev.py check`.

They install what they need into .venv.
"""

import glob
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / os.environ.get("VENV", ".venv")
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")

LOCKED = "--constraint constraints.txt"
DIRECT = "--editable .[dask,pandas,plot,stats]"
ENVIRONMENTS = {
    "demo": f"{LOCKED} --editable .[pandas,plot] --group demo",
    "dev": f"{LOCKED} --editable .[all] --group dev",
    "lowest": f"--constraint lowest.txt {DIRECT} --group fast",
    "newest": f"--upgrade {DIRECT} --group fast",
    "peers": f"{LOCKED} {DIRECT} --group peers",
    "bench": f"{LOCKED} --editable .[pandas,plot,stats] --group bench",
    "release": f"{LOCKED} --group release",
    "workflows": f"{LOCKED} --group workflows",
}
"""What uv installs for a command."""
PYTEST = "python -m pytest --ignore=tests/peers --dist=loadgroup"
FAST = f"{PYTEST} tests README.md -m 'not slow'"
LINT = (
    "ruff check .",
    "ruff format --check .",
    "lint-imports --no-cache --no-logo",
    "python .ci/one_step.py frame_pr",
    "mypy",
    "ty check -q",
    "pyrefly check",
)
RECTOOLS = f"uv pip install --quiet --target {VENV / 'rectools'} rectools==0.17.0"
GENERATE = [
    ("python docs/metrics.py", "python docs/option_tables.py", "python docs/public_surface.py")
]
SITE = [
    (
        "typos",
        "python docs/citations.py",
        "python -W ignore::DeprecationWarning examples/gallery.py",
        "python -W ignore tests/pictures.py",
    ),
    "sphinx-build -q -E -W --keep-going docs docs/_build",
    "python docs/axe.py docs/_build",
    "python docs/check_search.py docs/_build",
]
PACKAGE = [
    "python -m build --no-isolation",  # builds the wheel from the sdist
    "twine check --strict dist/*",
    "check-wheel-contents dist/*.whl",
]
COMPILE = (
    "uv pip compile --quiet --universal --python-version 3.11 --upgrade --no-annotate --no-header"
)
GROUPS = "--all-extras --group dev --group peers --group bench --group release --group workflows"
LOCK = [
    f"{COMPILE} {GROUPS} --output-file constraints.txt pyproject.toml",
    f"{COMPILE} --group build --generate-hashes --output-file .github/build.txt",
]
COMMANDS = {
    "demo": ("demo", "compare two classifiers per digit", ["python examples/digits_report.py"]),
    "test": ("dev", "all tests and examples of the docs", [LINT, f"{PYTEST} -n auto"]),
    "check": ("dev", "lint, types, fast tests: after every change", [LINT, f"{FAST} -n 2"]),
    "generate": ("dev", "rewrite the pages that follow from the code", GENERATE),
    "docs": ("dev", "build the site into docs/_build", SITE),
    "lint": ("dev", "lint and types alone", [LINT]),
    "lowest": ("lowest", "fast tests, lowest dependencies", [f"{FAST} -q -n auto"]),
    "newest": ("newest", "fast tests, newest dependencies", [f"{FAST} -q -n auto"]),
    "peers": ("peers", "other libraries", ["python -m pytest -q tests/peers -n auto"]),
    "coverage": ("dev", "lines that fast tests run", [f"{FAST} -q -n 2 --cov=frame_pr"]),
    "fuzz": ("dev", "random cases: --cases 100000 --seed 7", ["python tests/fuzz.py"]),
    "bench": ("bench", "time and memory: --base CHECKOUT", [RECTOOLS, "python -m benchmarks"]),
    "package": ("release", "build wheel and sdist into dist/", PACKAGE),
    "workflows": ("workflows", "check .github", ["actionlint", "zizmor --offline .github"]),
    "lock": ("release", "write the newest versions to constraints.txt", LOCK),
}
"""The environment of a command, what it is for, and its programs. Those of a tuple run together."""


def main():
    name, *arguments = sys.argv[1:] or ["--help"]
    if name not in COMMANDS:
        lines = [f"  {name:10}{about}" for name, (_, about, _) in COMMANDS.items()]
        print(__doc__, *lines, sep="\n")
        raise SystemExit(0 if name in ("-h", "--help", "help") else 2)
    if sys.version_info < (3, 11):
        stop(f"Python {sys.version.split()[0]} is too old; run it with Python 3.11 or later")
    os.chdir(ROOT)
    environment, _, steps = COMMANDS[name]
    install(environment)
    before = generated() if name == "docs" else None
    if name == "docs":
        run_all(GENERATE)
    if name == "docs" and generated() != before:
        stop("generated pages were not current, and are now; look at the changes and commit them")
    run_all([*steps[:-1], f"{steps[-1]} {shlex.join(arguments)}"] if arguments else steps)


def install(environment):
    """Install what an environment needs: once, and again when the dependencies change."""
    stamp = VENV / f".{environment}"
    changed = max(Path(file).stat().st_mtime for file in ("pyproject.toml", "constraints.txt"))
    if stamp.exists() and stamp.stat().st_mtime >= changed:
        return
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        stop("this Python has no venv; on Debian and Ubuntu: apt install python3-venv")
    print(f"Installing into {VENV}, once.", flush=True)
    if not program("python").exists():
        venv.create(VENV, with_pip=True)
    if not program("uv").exists():
        pip = [program("python"), "-m", "pip", "install", "--quiet", "uv"]
        ran = subprocess.run(pip, stderr=subprocess.PIPE, text=True)
        if ran.returncode:
            reason = ran.stderr.strip().splitlines()[-1]
            stop(f"uv cannot be installed; is there a network? pip says: {reason}")
    lowest = shlex.quote(str(VENV / "lowest.txt"))
    if environment == "lowest":
        extras = "--extra dask --extra pandas --extra plot --extra stats"
        compiled = f"--quiet --no-deps --no-header --output-file {lowest}"
        run(f"uv pip compile --resolution lowest-direct {extras} {compiled} pyproject.toml")
    packages = ENVIRONMENTS[environment].replace("lowest.txt", lowest)
    run(f"uv pip install --quiet {packages}")
    stamp.touch()


def generated():
    """The changes of the working tree, with those that `generate` makes."""
    return subprocess.run(["git", "diff"], stdout=subprocess.PIPE, check=True).stdout


def run_all(steps):
    for step in steps:
        if isinstance(step, str):
            run(step)
            continue
        with ThreadPoolExecutor() as pool:
            for ended in [pool.submit(run, command) for command in step]:
                ended.result()


def run(command):
    """Run a program of the environment, and end with its status if it fails."""
    first, *words = shlex.split(command)
    arguments = [path for word in words for path in sorted(glob.glob(word)) or [word]]
    # Tables of polars go to a pipe, and each process of the tests has one thread of polars.
    variables = {"PYTHONUTF8": "1", "POLARS_MAX_THREADS": "1", "VIRTUAL_ENV": str(VENV)}
    if first == "uv":
        variables.update(pip_settings())
    ran = subprocess.run([program(first), *arguments], env={**os.environ, **variables})
    if ran.returncode:
        stop(f"{command} fails")


def pip_settings():
    """The indexes and certificates of pip's configuration, which uv does not read."""
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "cert": "SSL_CERT_FILE",
    }
    listed = subprocess.run(
        [program("python"), "-m", "pip", "config", "list"], stdout=subprocess.PIPE, text=True
    )
    pairs = (line.partition("=") for line in listed.stdout.splitlines())
    values = {key.rpartition(".")[2]: value.strip("'") for key, _, value in pairs}
    settings = {names[key]: value for key, value in values.items() if key in names}
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **settings}  # as pip searches indexes


def program(name):
    return BIN / (f"{name}.exe" if os.name == "nt" else name)


def stop(reason):
    raise SystemExit(f"dev.py: {reason}")


if __name__ == "__main__":
    main()
