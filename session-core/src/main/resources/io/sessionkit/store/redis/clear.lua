-- KEYS session, records, and where all keys may be on one server: the index of sessions, its expiries
-- ARGV session id  Returns the time, and the kinds of the records that were there.
local kinds, seen = {digits(clock())}, {}
for _, field in ipairs(redis.call('HKEYS', RECORDS)) do
	local kind = string.match(field, '^(.-)%z')
	if not seen[kind] then
		seen[kind] = true
		kinds[#kinds + 1] = kind
	end
end
redis.call('UNLINK', SESSION, RECORDS)
if KEYS[3] then
	redis.call('ZREM', KEYS[3], ARGV[1])
	redis.call('ZREM', KEYS[4], ARGV[1])
end
return kinds
