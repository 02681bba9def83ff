"""Hello world on Japronto 0.1.2: sync at /, async without suspension at /async. Python 3.6 and 3.7 only."""

import sys

from japronto import Application


def hello(request):
    return request.Response(text="Hello world!")


async def hello_async(request):
    return request.Response(text="Hello world!")


app = Application()
app.router.add_route("/", hello)
app.router.add_route("/async", hello_async)
app.run(host="127.0.0.1", port=int(sys.argv[1]), worker_num=1)
