-- Recognizes a write that arrives twice, sent again by the driver or by the store because its answer was
-- lost, so that it is done once and both requests get the same answer. The id of the write is the last
-- argument but one. A turn keeps the id of the write that stored its last part. The answers to other
-- writes are kept for at least five minutes in KEYS[5] and KEYS[6], hashes of write id to answer: the
-- first hash replaces the second when it is that old.
local WRITE = ARGV[#ARGV - 1]
local RECENT, BEFORE = KEYS[5], KEYS[6]
local KEPT = 5 * 60 * 1000000

-- when the first of the two was started
local since

local function recalled()
	local found = redis.call('HMGET', RECENT, WRITE, 'since')
	since = tonumber(found[2] or nil)
	local values = found[1] or redis.call('HGET', BEFORE, WRITE)
	return values and cmsgpack.unpack(values)
end

-- Keeps the answer to a write that recalled() did not know.
local function remember(values, now)
	if since and since + KEPT <= now then
		redis.call('UNLINK', BEFORE)
		redis.call('RENAME', RECENT, BEFORE)
		since = nil
	end
	redis.call('HSET', RECENT, WRITE, cmsgpack.pack(values))
	if not since then
		redis.call('HSET', RECENT, 'since', digits(now))
		redis.call('PEXPIRE', RECENT, 2 * KEPT / 1000)
	end
	return values
end

