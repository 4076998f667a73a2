-- Refuses a Redis that loses what it has acknowledged, as far as it says so. ARGV[1] is
-- 1 where that is allowed.
if ARGV[1] ~= '1' then
  local info = redis.pcall('INFO', 'persistence')
  if type(info) == 'string' and string.find(info, 'aof_enabled:0', 1, true) then
    return {'lossy', 'appendonly', 'no', 'yes'}
  end
  info = redis.pcall('INFO', 'memory')
  local policy = type(info) == 'string' and string.match(info, 'maxmemory_policy:(allkeys[%w-]*)')
  if policy and not string.find(info, 'maxmemory:0\r', 1, true) then
    return {'lossy', 'maxmemory-policy', policy, 'noeviction'}
  end
end
