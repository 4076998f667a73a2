-- Makes the record ARGV[4] of the worker ID ARGV[1], or, if that is -1, of up to ARGV[3] below ARGV[2].
local id, ids, most, made = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), 0
if id >= 0 then
  redis.call('HSETNX', KEYS[1], text(id), ARGV[4])
  return {'ok'}
end
for _, first in ipairs({math.max(0, redis.call('HLEN', KEYS[1]) - 2000), 0}) do -- few are missing below
  while made < most and first < ids do
    made = made + redis.call('HSETNX', KEYS[1], text(first), ARGV[4])
    first = first + 1
  end
  if made > 0 then break end
end
return {'ok'}
