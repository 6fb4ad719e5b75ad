-- KEYS session, records  ARGV number  Returns the turn and its items, if there are any.
local packed = stored_header(clock()) and redis.call('HGET', SESSION, 'm:' .. ARGV[1])
return answer(packed and {tonumber(ARGV[1]), packed} or {})
