-- Claims a number of the space in KEYS[1]: a hash with the field "layout" and, for
-- each number ever held, a field "epoch\ntoken\nuntil\nexpires\nowner".
local layout, numbers, preferred, only, avoid = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])
local token, owner, now, window, ttl = ARGV[7], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local maxSkew, maxLead, forever = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])

local function text(n) return string.format('%.0f', n) end

local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local have = redis.call('HGET', KEYS[1], 'layout')
if have and have ~= layout then
  return {'layout', have}
end
if now - clock > maxSkew or clock - now > maxSkew then
  return {'skew', text(clock)}
end

local rows, held, ahead, wait = {}, 0, 0, nil
local best, rank -- the lowest rank wins, then the lowest bound, then the lowest number
local function offer(number, epoch, bound, r)
  if not best or r < rank or r == rank and (bound < best.bound or bound == best.bound and number < best.number) then
    best, rank = {number = number, epoch = epoch, bound = bound}, r
  end
end
local function soon(ms)
  if not wait or ms < wait then wait = ms end
end

local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if all[i] ~= 'layout' then
    local number = tonumber(all[i])
    local epoch, has, bound, expires = string.match(all[i + 1], '^(%d+)\n([^\n]*)\n(-?%d+)\n(%d+)\n[^\n]*$')
    if not epoch then -- one with more lines is of a newer version
      return redis.error_reply('ERR the record of worker ID ' .. all[i] .. ' cannot be read')
    end
    epoch, bound, expires = tonumber(epoch), tonumber(bound), tonumber(expires)
    rows[number] = true
    if has == token then
      return {'ok', text(number), text(epoch), text(bound - window), text(bound)}
    end
    local wanted = number < numbers and (not only or number == preferred)
    if wanted and has ~= '' and expires >= clock then
      held = held + 1
      if expires < forever then soon(expires + 1 - clock) end
    elseif wanted and number ~= avoid then
      local lead = bound - now
      if lead > maxLead then
        ahead = ahead + 1
        soon(lead - maxLead)
      elseif number == preferred then
        offer(number, epoch, bound, 0)
      elseif lead > 0 then
        offer(number, epoch, bound, 3)
      else
        offer(number, epoch, bound, 1)
      end
    end
  end
end
if preferred >= 0 and not rows[preferred] and preferred ~= avoid then
  offer(preferred, 0, 0, 0)
end
if not only then
  for number = 0, numbers - 1 do
    if not rows[number] and number ~= avoid and number ~= preferred then
      offer(number, 0, 0, 2)
      break
    end
  end
end
if not best then
  return {'none', text(only and 1 or numbers), text(held), text(ahead), text(wait and math.max(wait, 1) or 0)}
end

-- The span begins at the bound that is recorded, or at the claimant's clock.
local from = now
if best.epoch > 0 then from = math.max(best.bound, now) end
local to = from + window
local expires = ttl >= forever and forever or clock + ttl
if not have then redis.call('HSET', KEYS[1], 'layout', layout) end
redis.call('HSET', KEYS[1], text(best.number), table.concat({text(best.epoch + 1), token, text(to), text(expires), owner}, '\n'))
return {'ok', text(best.number), text(best.epoch + 1), text(from), text(to)}
