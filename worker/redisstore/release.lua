-- Frees a number, if it has this epoch and token, and sets its bound. With an empty
-- token it is an operator who frees it: whatever the token, and the bound stays.
local number, epoch, token, to = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local row = redis.call('HGET', KEYS[1], number)
if not row then return {'taken'} end
local e, t, bound, _, owner = string.match(row, '^(%d+)\n([^\n]*)\n(-?%d+)\n(%d+)\n(.*)$')
if e ~= epoch or t == '' then return {'taken'} end
if ARGV[5] == '1' then to = bound elseif t ~= token then return {'taken'} end
redis.call('HSET', KEYS[1], number, table.concat({e, '', to, '0', owner}, '\n'))
return {'ok'}
