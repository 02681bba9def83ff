"""Hello world: `python examples/hello.py`, then `curl http://127.0.0.1:8080/`."""

from tarmac import App

app = App()


@app.get("/")
def hello(request):
    return "Hello world!"


@app.get("/hello/{name}")
async def greet(request, name):
    return {"hello": name, "from": request.client}


if __name__ == "__main__":
    app.run(port=8080)
