"""Write the metric names that editors offer, frame_pr/metrics/completion.py: `python docs/completion.py`."""

from pathlib import Path

from frame_pr.metrics.names import HEADS, is_metric

TARGET = Path(__file__).parents[1] / "frame_pr" / "metrics" / "completion.py"
RANKS = ("@10", "@10%", "@10/min")
LIMITS = ("@recall=0.8", "@precision=0.9", "@fpr=0.1", "@specificity=0.9", "@npv=0.9")
CUTS = ("", *RANKS, "@threshold=0.5", *LIMITS)
HEAD = '''"""Names of metrics, for editors to complete; any other text may be one as well.

Made by `docs/completion.py`; a test holds this file to it.
"""

from typing import Literal, TypeAlias

MetricName: TypeAlias = (
    Literal[
'''
TAIL = """    ]
    | str
)
"""


def module() -> str:
    """The whole file."""
    names = dict.fromkeys(f"{head}{cut}" for head in HEADS for cut in CUTS if is_metric(f"{head}{cut}"))
    return HEAD + "".join(f'        "{name}",\n' for name in names) + TAIL


if __name__ == "__main__":
    TARGET.write_text(module(), encoding="utf-8")
