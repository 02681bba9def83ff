"""A program that is served again whenever it, or what it imports, changes."""

import greeting
from tarmac.compat.japronto import Application


def hello(request):
    return request.Response(text=greeting.WORDS)


app = Application()
app.router.add_route("/", hello)
app.run(reload=True, debug=True)
