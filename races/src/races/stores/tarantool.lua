-- A Tarantool for one heat: the site's own init.lua, and a console on a socket file, through
-- which the lab reads the operation counters. Nobody but the lab's user can reach that file.

local init = os.getenv('RACES_INIT')
arg[0] = init
dofile(init)
require('console').listen('unix/:' .. os.getenv('RACES_CONSOLE'))
