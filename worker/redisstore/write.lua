-- Writes a change, unless the namespace (ARGV[2]) or the record is not as it was read. ARGV[1] is
-- namespace, claim, expired (a claim of a worker ID whose fence has passed) or change.
local kind, id, was, value = ARGV[1], ARGV[4], ARGV[5], ARGV[6]
if space ~= ARGV[2] or kind ~= 'namespace' and (redis.call('HGET', KEYS[1], id) or '') ~= was then return {'no'} end
if kind == 'namespace' and string.match(value, '"incarnation":"([^"]*)"') ~= server then return {'no'} end
if kind == 'claim' or kind == 'expired' then
  local held = kind == 'expired' and tonumber(string.match(was, '"fence":(%-?%d+)')) + field('max_skew') >= now
  if recorded ~= server or held or (redis.call('GET', KEYS[2]) or '') ~= ARGV[3] then
    return {'no'}
  end
  redis.call('SET', KEYS[2], id, 'EX', 3600) -- if the claim is repeated, it finds its worker ID
end
redis.call('HSET', KEYS[1], id, value)
return {'ok'}
