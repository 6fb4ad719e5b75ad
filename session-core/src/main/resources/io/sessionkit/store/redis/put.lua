-- KEYS session, records, and where all keys may be on one server: the index of the kind, its expiries
-- ARGV session id, slack, then the record  Returns whether it was written, and the time to live of the session.
local now = clock()
local values = stored_header(now)
local write = read_write(3)
local wrong = wrong_type('hash', {RECORDS}) or wrong_type('zset', {unpack(KEYS, 3)})
if wrong then return wrong end
if not values or not as_expected(write, now) then return {0} end
local header = named(values)
if KEYS[3] then
	touch(KEYS[3], KEYS[4], ARGV[1], now, header.ttl, tonumber(ARGV[2]))
end
write_record(write, now)
expire(header.expires)
return {1, header.ttl or ''}
