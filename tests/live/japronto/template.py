"""Tutorial 8: HTML from a file, from a string and from a template that escapes."""

from pathlib import Path

from jinja2 import Template
from tarmac.compat.japronto import Application


def index(request):
    return request.Response(text=Path("index.html").read_text(), mime_type="text/html")


def example(request):
    return request.Response(text="<h1>HTML in a string</h1>", mime_type="text/html")


greeting = Template("<h1>Hello {{ name }}!</h1>", autoescape=True)


def jinja(request):
    return request.Response(text=greeting.render(name=request.query.get("name", "World")), mime_type="text/html")


app = Application()
app.router.add_route("/", index)
app.router.add_route("/example", example)
app.router.add_route("/jinja2", jinja)
app.run(debug=True)
