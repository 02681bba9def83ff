"""nginx as a contender: sends a file, and stores uploads by its DAV module."""

import shutil
from pathlib import Path

from harness.errors import Unavailable

_SETTINGS = """\
worker_processes 1;
daemon off;
error_log stderr error;
pid {folder}/nginx.pid;
{user}
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  default_type application/octet-stream;
  client_max_body_size 0;
  client_body_buffer_size 64k;
  client_body_temp_path {stored}/incoming;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location = /ready {{ return 200 ready; }}
    location = /file {{ root {folder}; }}
    location = /upload {{ root {stored}; dav_methods PUT; }}
  }}
}}
"""


def command(port: str, folder: Path, stored: Path) -> list[str | Path]:
    """The command line of an nginx that serves *folder* and stores uploads in *stored*. Raises ``Unavailable``."""
    program = shutil.which("nginx")
    if program is None:
        raise Unavailable("nginx is not installed (Debian: apt-get install nginx-light)")
    # A worker of a master that is root would not be let into the folder.
    user = "user root;" if folder.owner() == "root" else ""
    settings = folder / "nginx.conf"
    settings.write_text(_SETTINGS.format(folder=folder, stored=stored, port=port, user=user))
    return [program, "-c", settings, "-p", folder]
