-- Raises the fence of the worker ID ARGV[1], as Renewal.Decide does, if its record begins with
-- ARGV[2]. If it does not do so, the caller reads why. ARGV[5]: the floor may not be raised before.
local record = redis.call('HGET', KEYS[1], ARGV[1])
if space == '' or not record or string.sub(record, 1, #ARGV[2]) ~= ARGV[2] then return {'no'} end
local start, fence, owner, state = string.match(record, '^"start":(%-?%d+),"fence":(%-?%d+),(.*)"state":"(%a+)"}$', #ARGV[2] + 1)
local window, since, floor = field('fence_window'), field('since'), field('floor')
if recorded ~= server then
  if ARGV[5] == 'false' and floor <= now + window + field('max_skew') then return {'no'} end
  since = math.max(floor, now)
end
if state ~= 'held' and state ~= 'kept' or tonumber(fence) <= since then return {'no'} end
if ARGV[4] == 'true' then state = 'kept' end
local to = math.max(now, floor) + math.min(tonumber(ARGV[3]), window)
if to > tonumber(fence) then fence = text(to) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '"start":' .. start .. ',"fence":' .. fence .. ',' .. owner .. '"state":"' .. state .. '"}')
return {'ok', fence}
