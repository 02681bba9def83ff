"""Tutorial 3: any method, one method, several methods, placeholders."""

from tarmac.compat.japronto import Application

app = Application()
r = app.router


def anything(request):
    return request.Response(text=f"{request.method} of the root")


def only_get(request):
    return request.Response(text="got it")


def one_of_two(request):
    return request.Response(text=request.method)


def two_values(request):
    return request.Response(text=str(request.match_dict))


r.add_route("/", anything)
r.add_route("/only", only_get, "GET")
r.add_route("/two", one_of_two, methods=["POST", "DELETE"])
r.add_route("/values/{p1}/{p2}", two_values)
app.run()
