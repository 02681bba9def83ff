"""Tutorial 4: what a request tells of its head, its body and the rest."""

from json import JSONDecodeError

from tarmac.compat.japronto import Application


def head(request):
    names = ("method", "path", "version", "query_string", "query", "headers")
    return request.Response(json={name: getattr(request, name) for name in names})


def body(request):
    told = {name: getattr(request, name) for name in ("mime_type", "encoding", "text", "form", "files")}
    told["body"] = repr(request.body)
    if told["files"]:
        told["files"] = {name: [file.name, file.type, repr(file.body)] for name, file in told["files"].items()}
    try:
        told["json"] = request.json
    except JSONDecodeError:
        told["json"] = "no JSON"
    return request.Response(json=told)


def rest(request):
    names = ("hostname", "port", "remote_addr", "keep_alive", "match_dict", "cookies", "extra")
    told = {name: getattr(request, name) for name in names}
    told["route"] = request.route.pattern
    told["peer"] = request.transport.get_extra_info("peername")[0]
    told["app"] = request.app is app
    return request.Response(json=told)


app = Application()
app.router.add_route("/head", head)
app.router.add_route("/body", body)
app.router.add_route("/rest/{one}/{two}", rest)
app.run()
