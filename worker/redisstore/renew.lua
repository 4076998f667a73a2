-- Raises the fence of the worker ID ARGV[1], as Renewal.Decide does, if its record begins with
-- ARGV[2]. If it does not do so, the caller reads why.
local space, record = redis.call('HMGET', KEYS[1], unpack(fields)), redis.call('HGET', KEYS[1], ARGV[1])
if not space[1] or not record or string.sub(record, 1, #ARGV[2]) ~= ARGV[2] then return {'refused'} end
local state, start, fence, owner = string.match(record, '^"state":"(%a+)","start":(%-?%d+),"fence":(%-?%d+)(.*)$', #ARGV[2] + 1)
local window, since, floor = tonumber(space[3]), tonumber(space[6]), tonumber(space[7])
if space[5] ~= server then
  if floor <= now + window + tonumber(space[4]) then return {'refused'} end
  since = now
end
if state ~= 'held' and state ~= 'kept' or tonumber(fence) <= since then return {'refused'} end
if ARGV[4] == 'true' then state = 'kept' end
local to = math.max(now, floor) + math.min(tonumber(ARGV[3]), window)
if to > tonumber(fence) then fence = text(to) end
record = ARGV[2] .. '"state":"' .. state .. '","start":' .. start .. ',"fence":' .. fence .. owner
redis.call('HSET', KEYS[1], ARGV[1], record)
return {'ok', start, fence}
