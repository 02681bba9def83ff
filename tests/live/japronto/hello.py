"""Tutorial 1: one handler, one route."""

from tarmac.compat.japronto import Application


def greet(request):
    return request.Response(text="Hello world!")


app = Application()
app.router.add_route("/", greet)
app.run(debug=True)
