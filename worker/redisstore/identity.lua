-- Gives an identity its number: the one it had before, or else the next one, as
-- long as there is one.
local field, numbers = 'id:' .. ARGV[1], tonumber(ARGV[2])
local had = redis.call('HGET', KEYS[1], field)
if had then return {'ok', had} end
local next = tonumber(redis.call('HGET', KEYS[1], 'next') or '0')
if next >= numbers then return {'no'} end
redis.call('HSET', KEYS[1], field, string.format('%.0f', next), 'next', string.format('%.0f', next + 1))
return {'ok', string.format('%.0f', next)}
