-- Makes a record of the worker ID ARGV[1], or, if that is -1, of up to ARGV[3] below ARGV[2], and counts
-- them, unless the namespace (ARGV[4]) is not as it was read.
if space ~= ARGV[4] then return {'no'} end
local id, ids, most, made, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), 0, redis.call('HLEN', KEYS[1]) - 1
local function make(n)
  made = made + redis.call('HSETNX', KEYS[1], text(n), '{"worker_id":' .. text(n) .. ',"claim_id":"","fencing_token":0,"start":0,"fence":0,"owner":"","state":"unused"}')
end
if id >= 0 then make(id) end
for _, first in ipairs({math.max(0, count - 2000), 0}) do -- few are missing below
  while id < 0 and made < most and first < ids do
    make(first)
    first = first + 1
  end
end
local counted = string.gsub(space, '"seen":%d+', '"seen":' .. text(field('seen') + made))
redis.call('HSET', KEYS[1], 'namespace', counted)
return {'ok'}
