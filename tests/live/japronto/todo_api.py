"""The todo API: SQLite, one connection for each request, closed by a done callback."""

import os
import sqlite3
from functools import partial

from tarmac.compat.japronto import Application

connect = partial(sqlite3.connect, os.environ["TODO_FILE"])


def make_table():
    db = connect()
    db.execute("CREATE TABLE IF NOT EXISTS todos (id INTEGER PRIMARY KEY, todo TEXT)")
    db.close()


def cursor(request):
    def close(finished):
        finished.extra["connection"].close()
        print("closed")

    if "connection" not in request.extra:
        request.extra["connection"] = connect()
        request.add_done_callback(close)
    return request.extra["connection"].cursor()


def add_todo(request):
    cur = request.cursor
    todo = request.json["todo"]
    cur.execute("INSERT INTO todos (todo) VALUES (?)", (todo,))
    cur.connection.commit()
    return request.Response(json={"id": cur.lastrowid, "todo": todo})


def list_todos(request):
    rows = request.cursor.execute("SELECT id, todo FROM todos")
    return request.Response(json={"results": [{"id": number, "todo": todo} for number, todo in rows]})


def show_todo(request):
    number = int(request.match_dict["id"])
    row = request.cursor.execute("SELECT id, todo FROM todos WHERE id = ?", (number,)).fetchone()
    if not row:
        return request.Response(code=404, json={})
    return request.Response(json={"id": row[0], "todo": row[1]})


def delete_todo(request):
    cur = request.cursor
    cur.execute("DELETE FROM todos WHERE id = ?", (int(request.match_dict["id"]),))
    if not cur.rowcount:
        return request.Response(code=404, json={})
    cur.connection.commit()
    return request.Response(json={})


if __name__ == "__main__":
    make_table()
    app = Application()
    app.extend_request(cursor, property=True)
    router = app.router
    router.add_route("/todos", list_todos, method="GET")
    router.add_route("/todos/{id}", show_todo, method="GET")
    router.add_route("/todos/{id}", delete_todo, method="DELETE")
    router.add_route("/todos", add_todo, method="POST")
    app.run()
