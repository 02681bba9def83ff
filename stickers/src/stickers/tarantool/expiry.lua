-- Drops expired tokens and forgotten sessions in the background, a few at a time.

local fiber = require('fiber')
local log = require('log')

local SESSION_LIFETIME = 30 * 24 * 3600
local PAUSE = 1
-- Rows in one transaction: short enough that no page waits noticeably.
local BATCH = 500

local expiry = {}

local function drop_some(index, limit_value)
    local gone = 0
    box.atomic(function()
        for _, tuple in index:pairs({}, {iterator = 'GE'}):take_n(BATCH) do
            if tuple[index.parts[1].fieldno] > limit_value then
                break
            end
            box.space[index.space_id]:delete(tuple[1])
            gone = gone + 1
        end
    end)
    return gone
end

-- Everything that has expired by `now`; how many rows went.
function expiry.expire(now)
    local total = 0
    for _, work in ipairs({
        {box.space.secret.index.expires, now},
        {box.space.sessions.index.seen, now - SESSION_LIFETIME},
    }) do
        repeat
            local gone = drop_some(work[1], work[2])
            total = total + gone
            fiber.yield()
        until gone < BATCH
    end
    return total
end

function expiry.start()
    fiber.create(function()
        fiber.name('expiry')
        while true do
            local ok, problem = pcall(expiry.expire, math.floor(fiber.time()))
            if not ok then
                log.error('expiry: %s', problem)
            end
            fiber.sleep(PAUSE)
        end
    end)
end

return expiry
