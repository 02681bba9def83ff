"""What the Autobahn fuzzing client is to do, and what it found.

usage: autobahn_report.py specify FOLDER PORT CASES...    write FOLDER/specification.json
       autobahn_report.py judge FOLDER                    read FOLDER/reports; status 1 if a case is not right
"""

import json
import sys
from collections import Counter
from pathlib import Path

RIGHT = {"OK", "NON-STRICT", "INFORMATIONAL"}
AGENT = "tarmac"


def specify(folder: Path, port: str, cases: list[str]) -> None:
    specification = {
        "outdir": str(folder / "reports"),
        "servers": [{"agent": AGENT, "url": f"ws://127.0.0.1:{int(port)}"}],
        "cases": cases,
        "exclude-cases": [],
        "exclude-agent-cases": {},
    }
    (folder / "specification.json").write_text(json.dumps(specification, indent=2))
    (folder / "reports" / "index.json").unlink(missing_ok=True)


def judge(folder: Path) -> int:
    results = json.loads((folder / "reports" / "index.json").read_text())[AGENT]
    behaviour = Counter(result["behavior"] for result in results.values())
    closing = Counter(result["behaviorClose"] for result in results.values())
    print(f"{len(results)} cases: {told(behaviour)}; their closing handshakes: {told(closing)}")
    wrong = [case for case, result in results.items() if not {result["behavior"], result["behaviorClose"]} <= RIGHT]
    for case in wrong:
        result = results[case]
        report = folder / "reports" / result["reportfile"]
        print(f"  {case}: {result['behavior']}, closing {result['behaviorClose']} ({report})")
    return 1 if wrong or not results else 0


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def main() -> int:
    match sys.argv[1:]:
        case ["specify", folder, port, *cases] if cases:
            specify(Path(folder), port, cases)
            return 0
        case ["judge", folder]:
            return judge(Path(folder))
        case _:
            print(__doc__, file=sys.stderr)
            return 2


sys.exit(main())
