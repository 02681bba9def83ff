"""The behaviour of test_hosting.py in Flask."""

import hashlib
import threading

from flask import Flask, Response, jsonify, redirect, request

log = []
released = threading.Event()
app = Flask(__name__)


@app.get("/hello")
def hello():
    return Response("Hello world!", mimetype="text/plain")


@app.get("/items/<int:number>/<name>")
def item(number, name):
    return {"number": number, "name": name}


@app.get("/query")
def query():
    return {name: request.args.getlist(name) for name in request.args}


@app.post("/json")
def echo():
    return {"got": request.get_json()}


@app.post("/form")
def form():
    return request.form.to_dict()


@app.get("/cookies")
def cookies():
    response = jsonify(request.cookies)
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


@app.get("/headers")
def headers():
    return jsonify(request.headers.get("X-Multi"))


@app.get("/redirect")
def go():
    return redirect("/hello", 302)


@app.get("/error")
def error():
    raise RuntimeError("on purpose")


@app.post("/upload")
def upload():
    body = request.get_data()
    return {"length": len(body), "sha256": hashlib.sha256(body).hexdigest()}


@app.post("/upload-pieces")
def upload_pieces():
    digest, length, pieces = hashlib.sha256(), 0, 0
    while piece := request.stream.read(65536):
        digest.update(piece)
        length += len(piece)
        pieces += 1
    return {"length": length, "sha256": digest.hexdigest(), "pieces": pieces}


@app.get("/stream")
def stream():
    def lines():
        yield "one\n"
        released.wait(10)
        released.clear()
        yield "two\n"

    return Response(lines(), mimetype="text/plain")


@app.get("/release")
def release():
    released.set()
    return "released"


@app.get("/background")
def background():
    response = Response("later")
    response.call_on_close(lambda: log.append("background task ran"))
    return response


@app.get("/log")
def told():
    return log
