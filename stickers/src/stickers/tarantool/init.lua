-- Starts a Tarantool that holds the stickers: configuration from the environment, then the schema.
--
--   STICKERS_DIR            folder for the log and the snapshots (default: the current one)
--   STICKERS_LISTEN         address to listen on (default 127.0.0.1:3301)
--   STICKERS_WAL            none, write or fsync (default write)
--   STICKERS_MEMORY         bytes for tuples (default 1 GiB: the most tokens and sessions, all as long as they may be)
--   STICKERS_PASSWORD       of the user `stickers`, who may do what pages do
--   STICKERS_MANY_PASSWORD  of `stickers_many`, who may also touch the spaces that pages touch
--   STICKERS_ADMIN_PASSWORD of `stickers_admin`, who may load and copy the data
--   STICKERS_MOST_TOKENS, STICKERS_MOST_SESSIONS  above these the oldest rows go first

local fio = require('fio')

local here = fio.dirname(fio.abspath(arg[0]))
package.path = here .. '/?.lua;' .. package.path

local listen = os.getenv('STICKERS_LISTEN') or '127.0.0.1:3301'
local is_local = listen:startswith('127.') or listen:startswith('localhost:') or listen:startswith('unix/:')

local function password(name)
    local given = os.getenv(name)
    if not given and not is_local then
        error(name .. ' must be set when listening on ' .. listen)
    end
    return given or 'stickers'
end

local passwords = {
    stickers = password('STICKERS_PASSWORD'),
    stickers_many = password('STICKERS_MANY_PASSWORD'),
    stickers_admin = password('STICKERS_ADMIN_PASSWORD'),
}

box.cfg{
    work_dir = os.getenv('STICKERS_DIR'),
    wal_mode = os.getenv('STICKERS_WAL') or 'write',
    memtx_memory = tonumber(os.getenv('STICKERS_MEMORY')) or 1024 * 1024 * 1024,
    -- Old write-ahead logs go with the snapshot that replaces them, so the disk stays bounded.
    checkpoint_wal_threshold = 256 * 1024 * 1024,
    checkpoint_count = 1,
    -- Twenty pages of pipelined queries in one read.
    readahead = 128 * 1024,
    log_level = 'warn',
}

require('schema').create(passwords)
rawset(_G, 'stickers', require('pages'))
require('admin').install(stickers)
require('expiry').start()

-- Last, so that whoever gets a greeting finds everything in place.
box.cfg{listen = listen}
