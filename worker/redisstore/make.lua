-- Makes a record of the worker ID ARGV[1], or, if that is -1, of up to ARGV[3] below ARGV[2], unless
-- the namespace (ARGV[4]) or the number of records (ARGV[5]) is not as it was read.
local id, ids, most, made, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), 0, redis.call('HLEN', KEYS[1])
if space ~= '' then count = count - 1 end
if space ~= ARGV[4] or text(count) ~= ARGV[5] then return {'changed'} end
local function make(n)
  return redis.call('HSETNX', KEYS[1], text(n), '{"worker_id":' .. text(n) .. ',"claim_id":"","fencing_token":0,"start":0,"fence":0,"owner":"","state":"unused"}')
end
if id >= 0 then
  make(id)
  return {'ok'}
end
for _, first in ipairs({math.max(0, count - 2000), 0}) do -- few are missing below
  while made < most and first < ids do
    made, first = made + make(first), first + 1
  end
  if made > 0 then break end
end
return {'ok'}
