-- An index of an owner: a sorted set of session ids by the time of writing, and another one by the
-- time from which the sessions are surely gone. The index is a hint: its readers read the sessions too.

-- Returns whether the entry of a session must be written again: it may be older than the session by the lag.
local function is_old(noted, now, lag)
	return not noted or now - noted > lag
end

-- Writes the entry of a session that is written, and removes the ids of a few sessions that are gone.
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
