-- Spaces, indexes, users and rights. May be run any number of times; changes nothing that is there.

local schema = {}

local SPACES = {
    {
        name = 'packs',
        format = {{'name', 'string'}, {'title', 'string'}, {'size', 'unsigned'}},
        indexes = {{'primary', {parts = {'name'}}}},
    },
    {
        name = 'stickers',
        format = {
            {'id', 'unsigned'}, {'pack', 'string'}, {'number', 'unsigned'}, {'title', 'string'},
            {'kind', 'string'}, {'rating', 'integer'}, {'up', 'unsigned'}, {'down', 'unsigned'},
            {'judged', 'unsigned'},
        },
        indexes = {
            {'primary', {parts = {'id'}}},
            {'rating', {parts = {'rating', 'id'}}},
            {'pack', {parts = {'pack', 'number'}}},
            {'judged', {parts = {'judged', 'rating', 'id'}}},
        },
    },
    {
        name = 'sessions',
        format = {
            {'id', 'string'}, {'created', 'unsigned'}, {'seen', 'unsigned'},
            {'visits', 'unsigned'}, {'address', 'string'}, {'agent', 'string'},
        },
        indexes = {
            {'primary', {parts = {'id'}}},
            {'seen', {parts = {'seen'}, unique = false}},
        },
    },
    {
        name = 'secret',
        format = {
            {'token', 'string'}, {'mate', 'string'}, {'session', 'string'},
            {'sticker', 'unsigned'}, {'expires', 'unsigned'},
        },
        indexes = {
            {'primary', {parts = {'token'}}},
            {'expires', {parts = {'expires'}, unique = false}},
        },
    },
    {
        name = 'server',
        format = {{'name', 'string'}, {'value', 'unsigned'}},
        indexes = {{'primary', {parts = {'name'}}}},
    },
}

local PAGE_FUNCTIONS = {
    'stickers.index', 'stickers.good', 'stickers.bad', 'stickers.vote', 'stickers.ugliest',
    'stickers.statistics', 'stickers.packs', 'stickers.pack', 'stickers.sticker',
}
-- What `--requests many` calls beside its selects, inserts and updates.
local SMALL_FUNCTIONS = {'stickers.random_sticker', 'stickers.new_token'}
local ADMIN_FUNCTIONS = {'stickers.put', 'stickers.rows', 'stickers.clear', 'stickers.expire'}

-- {space, rights} of the user who sends many queries for each page.
local MANY_RIGHTS = {
    {'stickers', 'read'},
    {'secret', 'write'},
    {'sessions', 'read,write'},
    {'server', 'read,write'},
}

local function create_space(wanted)
    local space = box.schema.space.create(wanted.name, {format = wanted.format, if_not_exists = true})
    for _, index in ipairs(wanted.indexes) do
        local options = table.copy(index[2])
        options.if_not_exists = true
        space:create_index(index[1], options)
    end
end

local function create_functions(names)
    for _, name in ipairs(names) do
        -- setuid: the function may touch the spaces, whoever calls it may not.
        box.schema.func.create(name, {setuid = true, if_not_exists = true})
    end
end

local function create_user(name, password, functions)
    box.schema.user.create(name, {if_not_exists = true})
    box.schema.user.passwd(name, password)
    for _, called in ipairs(functions) do
        box.schema.user.grant(name, 'execute', 'function', called, {if_not_exists = true})
    end
end

local function joined(...)
    local all = {}
    for _, names in ipairs({...}) do
        for _, name in ipairs(names) do
            table.insert(all, name)
        end
    end
    return all
end

-- passwords: by user name.
function schema.create(passwords)
    for _, space in ipairs(SPACES) do
        create_space(space)
    end
    for _, name in ipairs({'clicks', 'users', 'votes'}) do
        box.space.server:upsert({name, 0}, {})
    end
    create_functions(joined(PAGE_FUNCTIONS, SMALL_FUNCTIONS, ADMIN_FUNCTIONS))
    create_user('stickers', passwords.stickers, PAGE_FUNCTIONS)
    create_user('stickers_many', passwords.stickers_many, joined(PAGE_FUNCTIONS, SMALL_FUNCTIONS))
    create_user('stickers_admin', passwords.stickers_admin, joined(PAGE_FUNCTIONS, ADMIN_FUNCTIONS))
    for _, right in ipairs(MANY_RIGHTS) do
        box.schema.user.grant('stickers_many', right[2], 'space', right[1], {if_not_exists = true})
    end
end

return schema
