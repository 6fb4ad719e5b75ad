-- KEYS an index of an owner, its expiries  ARGV limit
-- Removes ids of sessions that are surely gone. Returns how many it removed.
local time = redis.call('TIME')
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', time[1] * 1000000 + time[2], 'LIMIT', 0, ARGV[1])
for _, id in ipairs(gone) do
	redis.call('ZREM', KEYS[1], id)
	redis.call('ZREM', KEYS[2], id)
end
return answer({#gone})
