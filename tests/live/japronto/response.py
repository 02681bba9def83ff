"""Tutorial 5: every argument of a response."""

from http.cookies import SimpleCookie

from tarmac.compat.japronto.app import Application


def text(request):
    return request.Response(text="Hello world!")


def encoding(request):
    return request.Response(text="Já pronto!", encoding="iso-8859-1")


def mime(request):
    return request.Response(mime_type="image/svg+xml", text="<svg xmlns='http://www.w3.org/2000/svg'/>")


def body(request):
    return request.Response(body=b"\xde\xad\xbe\xef")


def json(request):
    return request.Response(json={"hello": "world"})


def code(request):
    return request.Response(code=int(request.match_dict["code"]))


def headers(request):
    return request.Response(text="headers", headers={"X-Header": "Value", "Refresh": "5; url=https://example.org/"})


def cookies(request):
    jar = SimpleCookie()
    jar["hello"] = "world"
    jar["hello"]["domain"] = "localhost"
    jar["hello"]["path"] = "/"
    jar["hello"]["max-age"] = 3600
    jar["city"] = "São Paulo"
    return request.Response(text="cookies", cookies=jar)


app = Application()
for pattern, handler in {
    "/text": text,
    "/encoding": encoding,
    "/mime": mime,
    "/body": body,
    "/json": json,
    "/code/{code}": code,
    "/headers": headers,
    "/cookies": cookies,
}.items():
    app.router.add_route(pattern, handler)
app.run()
