-- Returns an answer of transaction.read, in JSON. The records of the hash KEYS[1] are those of the worker IDs
-- in ARGV[2] and on, that of the claim of KEYS[2], and ARGV[1] others, at random (-1: all).
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
local records, seen = {}, {namespace = true}
for i = 1, #list, 2 do
  local id, record = list[i], list[i + 1]
  if not seen[id] and record ~= '' then
    local begin = '{"worker_id":' .. id .. ',"claim_id":'
    if string.sub(record, 1, #begin) ~= begin then
      return redis.error_reply('WRONGTYPE the field ' .. id .. ' holds ' .. record .. ', which is not the record of a worker ID')
    end
    records[#records + 1] = record
  end
  seen[id] = true
end
if space ~= '' then size = size - 1 end
local uptime, kept = tonumber(string.match(sections[1], 'uptime_in_seconds:(%d+)')), redis.call('INFO', 'persistence')
local age = math.max(uptime - 1, 0) * 1000 -- Redis subtracts two times that it has cut to seconds
local function has(setting) return string.find(kept, setting, 1, true) end
if has('aof_enabled:1') and has('aof_rewrite_in_progress:0') and has('aof_rewrite_scheduled:0') then age = -1 end
return {'ok', '{"age":' .. text(age) .. ',"claimed":"' .. claimed .. '","now":' .. text(now) .. ',"server":"' .. server .. '","count":' .. text(size) .. ',"missing":' .. tostring(space == '') ..
  ',"namespace":' .. (space == '' and '{}' or space) .. ',"records":[' .. table.concat(records, ',') .. ']}'}
