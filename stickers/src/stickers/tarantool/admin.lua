-- What loading and migrating need: whole rows in, whole rows out. Only for `stickers_admin`.

local expiry = require('expiry')

local TABLES = {packs = true, stickers = true, sessions = true, secret = true, server = true}

local admin = {}

local function space_of(name)
    if not TABLES[name] then
        error('no such table: ' .. tostring(name))
    end
    return box.space[name]
end

local function put(name, rows)
    local space = space_of(name)
    box.atomic(function()
        for _, row in ipairs(rows) do
            space:replace(row)
        end
    end)
    return #rows
end

-- The next rows behind the key `after`, in its order.
local function rows(name, after, limit)
    if after == nil then
        return space_of(name):select({}, {limit = limit})
    end
    return space_of(name):select({after}, {iterator = 'GT', limit = limit})
end

local function clear()
    for name in pairs(TABLES) do
        box.space[name]:truncate()
    end
    for _, name in ipairs({'clicks', 'users', 'votes'}) do
        box.space.server:replace({name, 0})
    end
end

function admin.install(functions)
    functions.put = put
    functions.rows = rows
    functions.clear = clear
    functions.expire = expiry.expire
end

return admin
