-- Begins the scripts of leases: the clock, the incarnation of the server, which is another one
-- whenever it may have lost writes, and the namespace, in JSON as Go writes it.
local function text(n) return string.format('%.0f', n) end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local sections = {}
for i, section in ipairs({'server', 'replication'}) do
  local info = redis.pcall('INFO', section)
  if type(info) ~= 'string' then
    return redis.error_reply('NOPERM leases need the command INFO, which shows whether Redis has lost writes: grant +info to the user (' .. tostring(info.err) .. ')')
  end
  sections[i] = info
end
local run, data = string.match(sections[1], 'run_id:(%w+)'), string.match(sections[2], 'master_replid:(%w+)')
if not run or not data then
  return redis.error_reply('ERR INFO has no run_id or no master_replid, which show whether Redis has lost writes: use a Redis or Valkey that has both')
end
if string.find(sections[2], 'role:slave', 1, true) then
  return redis.error_reply('READONLY this Redis is a replica, and what is written to it may be overwritten: connect to its primary')
end
local server = run .. '/' .. data
local space = redis.call('HGET', KEYS[1], 'namespace') or ''
local function field(name) return tonumber(string.match(space, '"' .. name .. '":(%-?%d+)')) end
local recorded = string.match(space, '"incarnation":"([^"]*)"')
