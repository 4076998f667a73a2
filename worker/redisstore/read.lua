-- Returns the namespace of the hash KEYS[1], and records: those of the worker IDs in ARGV[2] and on,
-- that of the claim of KEYS[2], and ARGV[1] others, at random (-1: all).
if space == '' and redis.call('EXISTS', KEYS[3]) == 1 then
  return redis.error_reply('WRONGTYPE the key "' .. KEYS[3] .. '" is of an unreleased version of snowkey: delete it when no program uses it')
end
local size, claimed, most, list = redis.call('HLEN', KEYS[1]), redis.call('GET', KEYS[2]) or '', tonumber(ARGV[1]), {}
if most < 0 or size <= most then
  list = redis.call('HGETALL', KEYS[1])
else
  if most > 0 then
    list = redis.pcall('HRANDFIELD', KEYS[1], most, 'WITHVALUES')
    if list.err then list = redis.call('HGETALL', KEYS[1]) end -- before Redis 6.2
  end
  for i = 2, #ARGV + 1 do
    local id = ARGV[i] or claimed
    list[#list + 1], list[#list + 2] = id, redis.call('HGET', KEYS[1], id) or ''
  end
end
if space ~= '' then size = size - 1 end
-- For how long the server runs, if a crash may lose all that it has done meanwhile; otherwise -1.
local age, kept = tonumber(string.match(sections[1], 'uptime_in_seconds:(%d+)')) * 1000, redis.call('INFO', 'persistence')
local function has(setting) return string.find(kept, setting, 1, true) end
if has('aof_enabled:1') and has('aof_rewrite_in_progress:0') and has('aof_rewrite_scheduled:0') then age = -1 end
local answer = {'ok', text(now), text(age), text(size), server, claimed, space}
for i = 1, #list do answer[#answer + 1] = list[i] end
return answer
