-- Makes a record of the worker ID ARGV[11], or, if that is -1, of up to ARGV[13] below ARGV[12], unless
-- the namespace (ARGV[3] to ARGV[10]) or the size of its hash is not as it was read.
local space, size = redis.call('HMGET', KEYS[1], unpack(fields)), redis.call('HLEN', KEYS[1])
for i = 1, #fields do
  if (space[i] or '') ~= ARGV[2 + i] then return {'changed'} end
end
if text(size) ~= ARGV[14] then return {'changed'} end
local id, ids, most, made = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), 0
if id >= 0 then
  redis.call('HSETNX', KEYS[1], text(id), ARGV[15])
  return {'ok'}
end
for _, first in ipairs({math.max(0, size - 2000), 0}) do -- few are missing below
  while made < most and first < ids do
    made = made + redis.call('HSETNX', KEYS[1], text(first), ARGV[15])
    first = first + 1
  end
  if made > 0 then break end
end
return {'ok'}
