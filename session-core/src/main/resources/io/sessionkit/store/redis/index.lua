-- An index of an owner: a sorted set of session ids by the time of writing, and another one by the
-- time from which they are surely gone. What they say is a hint: who reads it looks at the sessions.

-- Whether a session is to be noted again: its entry may be older by this much than what was written.
local function is_old(noted, now, lag)
	return not noted or now - noted > lag
end

-- Notes that a session is written; the ids of a few that are gone make room.
local function touch(by_time, by_expiry, id, now, ttl, slack)
	if ttl == 0 then ttl = nil end
	redis.call('ZADD', by_time, now, id)
	if not ttl and redis.call('EXISTS', by_expiry) == 0 then
		redis.call('PERSIST', by_time)
		return
	end
	for _, gone in ipairs(redis.call('ZRANGEBYSCORE', by_expiry, '-inf', now, 'LIMIT', 0, 10)) do
		if gone ~= id then
			redis.call('ZREM', by_time, gone)
			redis.call('ZREM', by_expiry, gone)
		end
	end
	if ttl then
		redis.call('ZADD', by_expiry, now + ttl + slack, id)
	else
		redis.call('ZREM', by_expiry, id)
	end
	if redis.call('ZCARD', by_time) == redis.call('ZCARD', by_expiry) then
		local last = redis.call('ZRANGE', by_expiry, -1, -1, 'WITHSCORES')[2]
		redis.call('PEXPIREAT', by_time, math.ceil(last / 1000))
		redis.call('PEXPIREAT', by_expiry, math.ceil(last / 1000))
	else
		redis.call('PERSIST', by_time)
		redis.call('PERSIST', by_expiry)
	end
end
