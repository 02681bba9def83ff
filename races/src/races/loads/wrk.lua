-- One course for wrk: pipelining, a check of every response, and the result as one JSON line.
-- Arguments: method, depth, expected status, text that must stand in the body ("" for none).

local threads = {}

function setup(thread)
   table.insert(threads, thread)
end

function init(arguments)
   wrong, length = 0, nil
   local method, depth = arguments[1], tonumber(arguments[2])
   status, text = tonumber(arguments[3]), arguments[4]
   local one = wrk.format(method)
   batch = one:rep(depth)
end

function request()
   return batch
end

function response(got, headers, body)
   if got ~= status or (text ~= "" and not body:find(text, 1, true)) then
      wrong = wrong + 1
   end
end

function done(summary, latency)
   local seen = 0
   for _, thread in ipairs(threads) do
      seen = seen + (thread:get("wrong") or 0)
   end
   local errors = summary.errors
   local pairs_found = {}
   for index = 1, #latency do
      local value, count = latency(index)
      table.insert(pairs_found, string.format("[%d,%d]", value, count))
   end
   io.write(string.format(
      '\nRACES-JSON {"requests":%d,"duration":%d,"wrong":%d,"connect":%d,"read":%d,"write":%d,' ..
      '"timeout":%d,"histogram":[%s]}\n',
      summary.requests, summary.duration, math.max(seen, errors.status), errors.connect,
      errors.read, errors.write, errors.timeout, table.concat(pairs_found, ",")))
end
