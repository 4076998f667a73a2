-- Writes a change, unless the namespace (ARGV[3] to ARGV[10]) or the record is not as it was read.
-- ARGV[1] is namespace, claim, own (a claim of what was the claimant's own) or change.
local kind, space = ARGV[1], redis.call('HMGET', KEYS[1], unpack(fields))
for i = 1, #fields do
  if (space[i] or '') ~= ARGV[2 + i] then return {'changed'} end
end
if kind == 'namespace' then
  if ARGV[15] ~= server then return {'changed'} end
  for i = 1, #fields do redis.call('HSET', KEYS[1], fields[i], ARGV[10 + i]) end
  return {'ok'}
end
local id, was, record = ARGV[11], ARGV[12], ARGV[13]
if (redis.call('HGET', KEYS[1], id) or '') ~= was then return {'changed'} end
if kind ~= 'change' then
  local state, fence = string.match(was, '"state":"(%a+)","start":%-?%d+,"fence":(%-?%d+)')
  local held = state == 'kept' or state ~= 'unused' and state ~= 'released' and tonumber(fence) + tonumber(space[4]) >= now
  if space[5] ~= server or held and kind == 'claim' or (redis.call('GET', KEYS[2]) or '') ~= ARGV[2] then
    return {'changed'}
  end
  redis.call('SET', KEYS[2], id, 'EX', 3600) -- if the claim is repeated, it finds its worker ID
end
redis.call('HSET', KEYS[1], id, record)
return {'ok'}
