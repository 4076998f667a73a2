-- Refuses a Redis that loses counts that it has acknowledged, as far as it says so.
local info = redis.pcall('INFO', 'persistence')
if type(info) == 'string' and string.find(info, 'aof_enabled:0', 1, true) then
  return {'no', 'appendonly', 'no', 'yes'}
end
info = redis.pcall('INFO', 'memory')
local policy = type(info) == 'string' and string.match(info, 'maxmemory_policy:(allkeys[%w-]*)')
if policy and not string.find(info, 'maxmemory:0\r', 1, true) then
  return {'no', 'maxmemory-policy', policy, 'noeviction'}
end
info = redis.pcall('INFO', 'replication')
if type(info) == 'string' and string.find(info, 'role:slave', 1, true) then
  return redis.error_reply('READONLY this Redis is a replica, and what is written to it may be overwritten: connect to its primary')
end
