-- KEYS the four of session.lua, the two of once.lua, and if all keys may be on one server: the index of the
-- kind, its expiries, and the two of write.lua
-- ARGV session id, how much older and how much longer than its session an entry of an index may be,
--   whether the index was written before and when, then the record
-- Returns WRITTEN, REFUSED or, if the index has to be written first, INDEX; and the time to live of the
-- session ('' if it never expires, -1 if there is none).
local again = recalled()
if again then return answer(again) end
local id, lag, slack, noted, noted_at = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1', tonumber(ARGV[5])
local now = clock()
local text = stored_header(now)
local write = read_write(6)
local wrong = wrong_type('hash', {RECORDS}) or wrong_type('zset', {unpack(KEYS, 7)})
if wrong then return wrong end
if not text then return answer({'REFUSED', -1}) end
local header = named(text)
if not as_expected(write, now) then return answer({'REFUSED', header.ttl or ''}) end
if not noted and is_old(header.kinds[write.kind], now, lag) then return answer({'INDEX', header.ttl or ''}) end
if KEYS[7] then touch(KEYS[7], KEYS[8], id, now, header.ttl, slack) end
if noted then header.kinds[write.kind] = math.min(noted_at or now, now) end
if noted or not header.has_records then
	header.has_records = true
	save_header(header, lag)
end
write_record(write, now, header)
expire(header.expires)
return answer(remember({'WRITTEN', header.ttl or ''}, now))
