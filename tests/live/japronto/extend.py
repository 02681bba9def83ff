"""Tutorial 7: a property and a method of one's own, and a callback at the end of a request."""

from tarmac.compat.japronto import Application


def extended_hello(request):
    if request.host_startswith("api."):
        return request.Response(text=f"Hello {request.reversed_agent}")
    return request.Response(text="Hello stranger")


def with_callback(request):
    def done(finished):
        print("done with", finished.path)

    request.add_done_callback(done)
    return request.Response(text="cb")


def reversed_agent(request):
    return request.headers["User-Agent"][::-1]


def host_startswith(request, prefix):
    return request.headers["Host"].startswith(prefix)


app = Application()
app.extend_request(reversed_agent, property=True)
app.extend_request(host_startswith)
app.router.add_route("/", extended_hello)
app.router.add_route("/callback", with_callback)
app.run()
