"""Hello world on mrhttp: sync at /, async without suspension at /async."""

import sys

from mrhttp import Application

app = Application()


@app.route("/")
def hello(request):
    return "Hello world!"


@app.route("/async")
async def hello_async(request):
    return "Hello world!"


app.run(host="127.0.0.1", port=int(sys.argv[1]), cores=1)
