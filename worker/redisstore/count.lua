-- Raises a counter, and gives what it was.
return {'ok', string.format('%.0f', redis.call('INCR', KEYS[1]) - 1)}
