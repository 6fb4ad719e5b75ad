-- KEYS an index of an owner, its expiries  ARGV id, the newest time of an entry that may be removed
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and tonumber(score) <= tonumber(ARGV[2]) then
	redis.call('ZREM', KEYS[1], ARGV[1])
	redis.call('ZREM', KEYS[2], ARGV[1])
	return answer({1})
end
return answer({0})
