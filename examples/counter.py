"""Page views counted in Tarantool: `TARANTOOL_URL=tarantool://127.0.0.1:3301 python examples/counter.py`.

Handlers and queries share one reactor: a thousand requests that come together cost Tarantool few packets.
"""

import os

from tarmac import App
from tarmac import tarantool as tnt

app = App()
db = tnt.connect(os.environ.get("TARANTOOL_URL", "tarantool://127.0.0.1:3301"), timeout=5)
views = db.space("views")

SCHEMA = """
    local views = box.schema.space.create('views', {if_not_exists = true})
    views:format({{'page', 'string'}, {'count', 'unsigned'}})
    views:create_index('primary', {if_not_exists = true, parts = {'page'}})
"""


@app.lifespan
async def database(app):
    async with db:
        await db.eval(SCHEMA)
        yield


@app.get("/")
async def top(request):
    rows = await views.select()
    return {row.page: row.count for row in rows}


@app.get("/{page}")
async def view(request, page):
    await views.upsert((page, 1), tnt.add("count", 1))
    row = await views.get(page)
    return f"{row.page}: {row.count} views"


if __name__ == "__main__":
    app.run(port=int(os.environ.get("PORT", "8080")))
