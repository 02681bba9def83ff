-- What each page asks of the data, in one call and one transaction each.
--
-- Nothing in here yields between its first read and its commit: memtx runs it as one step,
-- so a hundred identical votes at once count once.

local digest = require('digest')

local SHOWN = 9
local JUDGED_AFTER = 20
local MOST_TOKENS = tonumber(os.getenv('STICKERS_MOST_TOKENS')) or 400000
local MOST_SESSIONS = tonumber(os.getenv('STICKERS_MOST_SESSIONS')) or 500000

-- Field numbers: update() takes numbers without looking names up.
local VALUE, SEEN, VISITS, ADDRESS, AGENT = 2, 3, 4, 5, 6
local RATING, UP, DOWN, JUDGED = 6, 7, 8, 9

local pages = {}

local function add(name, amount)
    box.space.server:update(name, {{'+', VALUE, amount}})
end

-- The caller has made `session`; `is_new` says that nobody has seen it before.
local function count_visit(session, is_new, now, address, agent)
    if is_new then
        add('users', 1)
    end
    box.space.sessions:upsert(
        {session, now, now, 1, address, agent},
        {{'=', SEEN, now}, {'+', VISITS, 1}, {'=', ADDRESS, address}, {'=', AGENT, agent}}
    )
    local sessions = box.space.sessions
    while sessions:len() > MOST_SESSIONS do
        sessions:delete(sessions.index.seen:min().id)
    end
end

local function draw(other_than)
    local primary = box.space.stickers.index.primary
    if primary:len() < (other_than and 2 or 1) then
        return nil
    end
    local drawn
    repeat
        drawn = primary:random(math.random(0, 2 ^ 31 - 1))
    until drawn.id ~= other_than
    return drawn
end

local function issue(token, mate, session, sticker, expires)
    box.space.secret:insert({token, mate, session, sticker.id, expires})
end

local function in_transaction(work)
    return function(...)
        return box.atomic(work, ...)
    end
end

-- Two different stickers, `left` and `right` becoming their tokens; nothing if there are not two.
pages.index = in_transaction(function(session, is_new, now, address, agent, left, right, expires)
    count_visit(session, is_new, now, address, agent)
    add('clicks', 1)
    local one = draw()
    local other = one and draw(one.id)
    if not other then
        return {}
    end
    issue(left, right, session, one, expires)
    issue(right, left, session, other, expires)
    local secret = box.space.secret
    while secret:len() > MOST_TOKENS do
        secret:delete(secret.index.expires:min().token)
    end
    return {one, other}
end)

pages.good = in_transaction(function(session, is_new, now, address, agent)
    count_visit(session, is_new, now, address, agent)
    return box.space.stickers.index.rating:select({}, {iterator = 'LE', limit = SHOWN})
end)

pages.bad = in_transaction(function(session, is_new, now, address, agent)
    count_visit(session, is_new, now, address, agent)
    return box.space.stickers.index.rating:select({}, {iterator = 'GE', limit = SHOWN})
end)

local function judge(id, rating, counted)
    local sticker = box.space.stickers:update(id, {{'+', RATING, rating}, {'+', counted, 1}})
    if sticker.judged == 0 and sticker.up + sticker.down >= JUDGED_AFTER then
        box.space.stickers:update(id, {{'=', JUDGED, 1}})
    end
end

-- Both tokens alive, of one pair and of this session: then they are spent and the vote counts.
pages.vote = in_transaction(function(session, winner, loser, now)
    local secret = box.space.secret
    local first, second = secret:get(winner), secret:get(loser)
    if not first or not second
        or first.mate ~= second.token or second.mate ~= first.token
        or first.session ~= session or second.session ~= session
        or first.expires <= now or second.expires <= now
    then
        return false
    end
    secret:delete(winner)
    secret:delete(loser)
    judge(first.sticker, 1, UP)
    judge(second.sticker, -1, DOWN)
    add('votes', 1)
    return true
end)

function pages.ugliest()
    return box.space.stickers.index.judged:select({1}, {iterator = 'EQ', limit = SHOWN})
end

function pages.statistics()
    local function value(name)
        local counter = box.space.server:get(name)
        return counter and counter.value or 0
    end
    return {value('users'), value('clicks'), value('votes'), box.space.packs:len(), box.space.stickers:len()}
end

function pages.packs(offset, limit)
    return box.space.packs:select({}, {offset = offset, limit = limit})
end

function pages.pack(name, offset, limit)
    return box.space.stickers.index.pack:select({name}, {offset = offset, limit = limit})
end

function pages.sticker(pack, number)
    return {box.space.stickers.index.pack:get({pack, number})}
end

-- For `--requests many`: a random sticker that is not `other_than`.
function pages.random_sticker(other_than)
    return {draw(other_than)}
end

-- 256 bits from the system, in 43 characters that URLs and forms leave alone.
function pages.new_token()
    return digest.base64_encode(digest.urandom(32), {urlsafe = true, nopad = true, nowrap = true})
end

math.randomseed(tonumber('0x' .. digest.urandom(4):hex()))

return pages
