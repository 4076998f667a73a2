-- Adds to a counter, and gives what it has become, as text: a number of Lua is not exact
-- beyond 2^53.
redis.call('INCRBY', KEYS[1], ARGV[1])
return {'ok', redis.call('GET', KEYS[1])}
