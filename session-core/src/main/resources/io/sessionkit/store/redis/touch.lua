-- KEYS an index of an owner, its expiries  ARGV id, time to live or '', slack, the time of its entry or ''
-- Returns the time, and whether the expiry is that of the time to live.
-- Before a session is written it is unknown whether the write will succeed, so the expiry of an existing
-- entry is never brought forward. Afterwards its expiry is set, unless the entry was written again since,
-- by another writer or by this very call, which then arrives a second time.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ttl, slack, since = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local noted = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or nil)
local exact = 1
if since and noted ~= since then
	return answer({now, 0})
end
if not since and noted and ttl and ttl > 0 then
	local expires = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or nil)
	if not expires or expires > now + ttl + slack then
		ttl = expires and expires - now - slack
		exact = 0
	end
end
touch(KEYS[1], KEYS[2], ARGV[1], now, ttl, slack)
return answer({now, exact})
