-- KEYS session, records, the two of once.lua, and where all keys may be on one server: the index of the
-- kind, its expiries
-- ARGV session id, slack, then the record  Returns whether it was written, and the time to live of the session.
local again = recalled()
if again then return answer(again) end
local now = clock()
local values = stored_header(now)
local write = read_write(3)
local wrong = wrong_type('hash', {RECORDS}) or wrong_type('zset', {unpack(KEYS, 5)})
if wrong then return wrong end
if not values or not as_expected(write, now) then return answer({0}) end
local header = named(values)
if KEYS[5] then
	touch(KEYS[5], KEYS[6], ARGV[1], now, header.ttl, tonumber(ARGV[2]))
end
write_record(write, now)
expire(header.expires)
return answer(remember({1, header.ttl or ''}, now))
