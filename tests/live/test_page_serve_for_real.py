"""The program, the settings, the units and the proxy of docs/how-to/serve-for-real.md."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from support.pages import Service
from support.sources import ROOT
from support.waiting import free_port
from tarmac.cli_config import settle

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live

PAGE = "docs/how-to/serve-for-real.md"


def block(language: str) -> str:
    """The page's only block in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / PAGE).read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


def test_health_and_numbers_are_told(serve):
    service = serve(PAGE)
    assert (200, "hello") == service.ask("/")
    status, health = service.ask("/health")
    assert (200, "ok") == (status, json.loads(health)["status"])
    assert 'tarmac_http_requests_total{method="GET",status="2xx"} 2' in service.ask("/metrics")[1]


def test_the_settings_of_the_page_are_taken(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tarmac.toml").write_text(block("toml"))
    settled = settle({}, {"TARMAC_WORKERS": "8"})
    assert len(tomllib.loads(block("toml"))) == len(settled)
    assert (8, 500 * 1024**2, "json") == (settled["workers"], settled["max_rss"], settled["access_log"])


def test_the_template_of_the_page_is_one():
    from tarmac.http.access_log import AccessLog

    (template,) = re.findall(r"--access-log '([^']+)'", (ROOT / PAGE).read_text())
    AccessLog(template)


def test_nginx_passes_requests_on(run_process, tmp_path: Path):
    if shutil.which("nginx") is None:
        pytest.skip("no nginx on PATH: apt-get install nginx-light")
    front = free_port()
    command = ("run", "hello:app", "--app-dir", str(ROOT / "examples"), "--port", "0", "--access-log", "{header:host}")
    process = run_process(sys.executable, "-m", "tarmac", *command)
    port = process.wait_for_line(r"^listening on http://127\.0\.0\.1:(\d+)$")[1]
    site = block("nginx").replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace("listen 80;", f"listen {front};")
    paths = "".join(
        f"{name}_temp_path {tmp_path}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{site}}}\n"
    )
    nginx = run_process("nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf", "-g", "daemon off;")
    nginx.wait_for_port(front)
    service = Service(front, nginx)
    assert [(200, "Hello world!")] * 3 == [service.ask("/") for _ in range(3)]
    process.wait_for_line(r"^127\.0\.0\.1(:\d+)?$")
    assert 0 == process.stop()


def test_systemd_understands_the_unit(tmp_path: Path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on PATH: apt-get install systemd")
    unit = tmp_path / "shop.service"
    unit.write_text(block("ini").replace("/opt/shop/.venv/bin/tarmac", sys.executable).replace("User=shop\n", ""))
    done = subprocess.run(["systemd-analyze", "verify", unit], check=False, capture_output=True, text=True, timeout=30)
    about_it = [line for line in done.stderr.splitlines() if "shop.service" in line]
    old = [line for line in about_it if "notify-reload" in line]  # systemd before 253, as the page says
    assert old == about_it
