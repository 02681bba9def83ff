"""A todo list as a JSON API in memory, documented: `tarmac run --app-dir examples todo:app`, then open /docs.

curl -d '{"text": "buy milk"}' http://127.0.0.1:8080/todos
curl http://127.0.0.1:8080/todos?done=false
curl -X PATCH -d '{"done": true}' http://127.0.0.1:8080/todos/1
curl -X DELETE http://127.0.0.1:8080/todos/1
"""

import itertools
from dataclasses import dataclass

from tarmac import App, NotFound, json
from tarmac.openapi import Answer, describe

app = App()
todos = {}
numbers = itertools.count(1)


@dataclass
class NewTodo:
    """What is to be done."""

    text: str


@dataclass
class Changes:
    """What is to be changed; the rest stays."""

    text: str | None = None
    done: bool | None = None


@dataclass
class Todo:
    """One line of the list."""

    id: int
    text: str
    done: bool = False


@dataclass
class Wanted:
    """Which todos are wanted: all of them, or those that are done, or not."""

    done: bool | None = None


@app.get("/todos")
@describe(tags=["todos"])
def all_of_them(request, query: Wanted) -> list[Todo]:
    """List the todos, the oldest first."""
    return [todo for todo in todos.values() if query.done in {None, todo.done}]


@app.post("/todos")
@describe(
    tags=["todos"],
    examples={"milk": {"text": "buy milk"}},
    responses={201: Answer(Todo, "It is on the list", {"id": 1, "text": "buy milk", "done": False})},
)
async def create(request, body: NewTodo):
    """Put a todo on the list."""
    todo = todos.setdefault(number := next(numbers), Todo(number, body.text))
    return json(todo, status=201, headers={"Location": app.url_for("one", number=number)})


@app.get("/todos/{number:int}")
@describe(tags=["todos"], responses={200: Todo, 404: "There is no such todo"})
def one(request, number):
    """Look at one todo."""
    return find(number)


@app.patch("/todos/{number:int}")
@describe(tags=["todos"], responses={200: Todo, 404: "There is no such todo"})
async def change(request, number, body: Changes):
    """Change a todo.

    Only what is given is changed: send `{"done": true}` when it is done.
    """
    todo = find(number)
    todo.text = body.text if body.text is not None else todo.text
    todo.done = body.done if body.done is not None else todo.done
    return todo


@app.delete("/todos/{number:int}")
@describe(tags=["todos"], responses={404: "There is no such todo"})
def delete(request, number) -> None:
    """Take a todo off the list."""
    find(number)
    del todos[number]


@app.error(404)
def missing(request, error):
    return {"error": str(error)}, 404


def find(number):
    if number not in todos:
        raise NotFound(f"no todo has the number {number}")
    return todos[number]


app.openapi(title="Todos", version="1.0", tags={"todos": "Everything there is to do"})

if __name__ == "__main__":
    app.run(port=8080)
