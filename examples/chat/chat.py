"""A chat with rooms over WebSockets: `tarmac run --app-dir examples/chat chat:app`, then open the page twice.

Every room is a page of its own: http://127.0.0.1:8080/cats
"""

import contextlib
import json
from collections import defaultdict, deque
from pathlib import Path

from tarmac import App, html, redirect

PAGE = Path(__file__).with_name("page.html").read_text()
LONGEST_NAME, LONGEST_TEXT = 30, 1000

app = App()
rooms = defaultdict(set)  # name of a room -> its open WebSockets
history = defaultdict(lambda: deque(maxlen=50))  # the last messages of each room, for those who come later


@app.get("/")
def lobby(request):
    return redirect("/lobby")


@app.get("/{room}")
def page(request, room):
    return html(PAGE)


@app.websocket("/{room}/socket", message_bytes=8192, origins=["same"])
async def chat(ws, room):
    name = request_name(ws.request)
    for message in history[room]:
        await ws.send_json(message)
    rooms[room].add(ws)
    try:
        tell(room, {"note": f"{name} is here"})
        async for message in ws:
            if (text := said(message)) is not None:
                tell(room, {"name": name, "text": text})
    finally:
        rooms[room].discard(ws)
        tell(room, {"note": f"{name} has left"})
        if not rooms[room]:
            rooms.pop(room)
            history.pop(room, None)


def request_name(request):
    return request.query.get("name", "").strip()[:LONGEST_NAME] or "somebody"


def said(message):
    """The text of what the page sends, `{"text": ...}`; None for anything else."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        text = json.loads(message)["text"]
        if isinstance(text, str) and text.strip():
            return text.strip()[:LONGEST_TEXT]
    return None


def tell(room, message):
    """To everybody in the room. Nobody waits here: who reads too slowly is cut off by the server."""
    if "text" in message:
        history[room].append(message)
    for ws in rooms[room]:
        ws.send_json(message)
