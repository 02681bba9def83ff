"""A todo list as a JSON API in memory: `tarmac run --app-dir examples todo:app`.

curl -d '{"text": "buy milk"}' http://127.0.0.1:8080/todos
curl http://127.0.0.1:8080/todos
curl -X PATCH -d '{"done": true}' http://127.0.0.1:8080/todos/1
curl -X DELETE http://127.0.0.1:8080/todos/1
"""

import itertools

from tarmac import App, BadRequest, NotFound, Response, json

app = App()
todos = {}
numbers = itertools.count(1)


@app.get("/todos")
def all_of_them(request):
    wanted = request.query.get("done")
    return [todo for todo in todos.values() if wanted is None or todo["done"] == (wanted == "true")]


@app.post("/todos")
async def create(request):
    fields = await read(request, text=str)
    todo = {"id": next(numbers), "text": fields["text"], "done": False}
    todos[todo["id"]] = todo
    return json(todo, status=201, headers={"Location": app.url_for("one", number=todo["id"])})


@app.get("/todos/{number:int}")
def one(request, number):
    return find(number)


@app.patch("/todos/{number:int}")
async def change(request, number):
    todo = find(number)
    todo.update(await read(request, done=bool))
    return todo


@app.delete("/todos/{number:int}")
def delete(request, number):
    find(number)
    del todos[number]
    return Response(status=204)


@app.error(404)
def missing(request, error):
    return {"error": str(error)}, 404


def find(number):
    if number not in todos:
        raise NotFound(f"no todo has the number {number}")
    return todos[number]


async def read(request, **wanted):
    """The wanted fields of the body, each of its type."""
    fields = await request.json()
    for name, kind in wanted.items():
        if not isinstance(fields, dict) or not isinstance(fields.get(name), kind):
            raise BadRequest(f"{name} must be a {kind.__name__}")
    return {name: fields[name] for name in wanted}


if __name__ == "__main__":
    app.run(port=8080)
