-- wrk script: requests sent DEPTH at a time (argument after "--"), and the result printed as one JSON line.
function init(args)
  local depth = tonumber(args[1]) or 1
  local one = wrk.format()
  -- A static request costs the generator no Lua call per request; wrk counts the pipelined ones by itself.
  wrk.format = function() return string.rep(one, depth) end
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests": %d, "microseconds": %d, "bytes": %d, "p50": %.1f, "p99": %.1f, '
      .. '"errors": {"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    e.connect, e.read, e.write, e.status, e.timeout))
end
