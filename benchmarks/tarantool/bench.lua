-- The private Tarantool of the benchmarks: its spaces, and what prepares and checks a slot.
-- Started in a temporary folder; PORT in the environment. The harness talks to it over the console socket.
box.cfg{
  listen = '127.0.0.1:' .. os.getenv('PORT'),
  wal_mode = 'none',
  memtx_memory = 2 * 1024 * 1024 * 1024,
  readahead = tonumber(os.getenv('READAHEAD') or 16320),
  net_msg_max = 768,
  log_level = 'warn',
}
box.schema.user.grant('guest', 'read,write,execute,create', 'universe', nil, {if_not_exists = true})

local function space(name, format)
  local s = box.schema.space.create(name, {format = format})
  s:create_index('primary', {parts = {{1, format[1].type}}})
  return s
end

-- Connector rows: ROWS rows to select and update, blobs to insert, crumbs to delete.
local ROWS = 1000
local rows = space('rows', {{name = 'id', type = 'unsigned'}, {name = 'count', type = 'unsigned'}, {name = 'name', type = 'string'}})
local blobs = space('blobs', {{name = 'id', type = 'unsigned'}, {name = 'body', type = 'string'}})
local crumbs = space('crumbs', {{name = 'id', type = 'unsigned'}, {name = 'name', type = 'string'}})

function bench_add(a, b) return a + b end

bench = {}

function bench.prepare(operation, count)
  blobs:truncate()
  if operation == 'update' then
    for id = 0, ROWS - 1 do rows:replace{id, 0, 'row ' .. id} end
  elseif operation == 'delete' then
    for id = 0, count - 1 do crumbs:replace{id, 'crumb'} end
  end
  collectgarbage()
  return 0
end

-- How many operations of the slot have left their mark.
function bench.done(operation, count)
  if operation == 'insert' then return blobs:len() end
  if operation == 'delete' then return count - crumbs:len() end
  local sum = 0
  for _, row in rows:pairs() do sum = sum + row[2] end
  return sum
end

-- Page rows: stickers with an index by rating; sessions, tokens and counters for the index page.
local STICKERS = 16200
local stickers = space('stickers', {
  {name = 'id', type = 'unsigned'}, {name = 'pack', type = 'string'}, {name = 'number', type = 'unsigned'},
  {name = 'rating', type = 'integer'}, {name = 'up', type = 'unsigned'}, {name = 'down', type = 'unsigned'},
})
stickers:create_index('rating', {parts = {{4, 'integer'}}, unique = false})
local sessions = space('sessions', {{name = 'id', type = 'string'}, {name = 'user', type = 'unsigned'}, {name = 'at', type = 'number'}})
local tokens = space('tokens', {{name = 'id', type = 'string'}, {name = 'session', type = 'string'}, {name = 'sticker', type = 'unsigned'}})
local counters = space('counters', {{name = 'name', type = 'string'}, {name = 'value', type = 'unsigned'}})

bench.prepare('update')
for id = 1, STICKERS do stickers:insert{id, 'pack' .. math.floor(id / 20), id % 20, (id * 7919) % 2003 - 1000, id % 50, id % 31} end
for _, name in ipairs{'users', 'clicks'} do counters:insert{name, 0} end

-- The work of a new visitor's index page in one request: the same nine operations as the page of many requests.
function bench_index(session, token_a, token_b, now)
  sessions:get(session)
  local last = stickers.index.primary:max()[1]
  local a, b = math.random(last), math.random(last)
  local left, right = stickers:get(a), stickers:get(b)
  sessions:insert{session, 0, now}
  tokens:insert{token_a, session, a}
  tokens:insert{token_b, session, b}
  counters:update('users', {{'+', 2, 1}})
  counters:update('clicks', {{'+', 2, 1}})
  return {left, right}
end

function bench.clear_pages()
  sessions:truncate()
  tokens:truncate()
  collectgarbage()
  return 0
end

function bench.operations()
  local stat = box.stat()
  return stat.SELECT.total + stat.INSERT.total + stat.UPDATE.total + stat.DELETE.total + stat.REPLACE.total + stat.UPSERT.total
end

require('console').listen('unix/:' .. os.getenv('CONSOLE'))
