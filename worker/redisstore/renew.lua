-- Raises the bound of a number, if it has this epoch and token.
local number, epoch, token, to, ttl, forever = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local row = redis.call('HGET', KEYS[1], number)
if not row then return {'taken'} end
local e, t, bound, _, owner = string.match(row, '^(%d+)\n([^\n]*)\n(-?%d+)\n(%d+)\n(.*)$')
if e ~= epoch or t ~= token or token == '' then return {'taken'} end
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expires = ttl >= forever and forever or clock + ttl
redis.call('HSET', KEYS[1], number, table.concat({e, t, string.format('%.0f', math.max(tonumber(bound), to)), string.format('%.0f', expires), owner}, '\n'))
return {'ok'}
