-- Functions for the scripts that write records. The expected revision -1 stands for any, 0 for none.
local function as_expected(write, now)
	local there = record(write.kind, write.id, now)
	return write.expected == -1 or write.expected == (there and there[REVISION] or 0)
end

-- Notes when a record expires, so that nobody looks for expired records before.
local function note_expiry(expires)
	local noted = tonumber(redis.call('HGET', RECORDS, 'expires') or nil)
	if not noted or expires < noted then redis.call('HSET', RECORDS, 'expires', digits(expires)) end
end

-- Writes a record of a session with this owner and id. An index of all owners is a sorted set by the time of writing:
-- owner NUL id of the session NUL id of the record.
local function write_record(write, now, of)
	local field = write.kind .. '\0' .. write.id
	local shared, entry = shared_index(write.kind)
	if shared then
		entry = of.owner .. '\0' .. of.id .. '\0' .. write.id
		if write.payload then redis.call('ZADD', shared, now, entry) else redis.call('ZREM', shared, entry) end
	end
	if not write.payload then
		if redis.call('HDEL', RECORDS, field) == 1 and write.kind == SUMMARY then change_covering(write.id) end
		return
	end
	local there, expires = record(write.kind, write.id, now), write.ttl and now + write.ttl or ''
	local added = redis.call('HSET', RECORDS, field, cmsgpack.pack({there and there[REVISION] + 1 or write.first, now,
		expires, write.payload}))
	if write.ttl and not LISTED[write.kind] then note_expiry(expires) end
	if added == 0 and write.kind == SUMMARY then change_covering(write.id, there and expires) end
end

-- kind, id, expected revision, first revision, whether there is a payload, payload, time to live or ''
local function read_write(from)
	return {kind = ARGV[from], id = ARGV[from + 1], expected = tonumber(ARGV[from + 2]),
		first = tonumber(ARGV[from + 3]), payload = ARGV[from + 4] == '1' and ARGV[from + 5],
		ttl = tonumber(ARGV[from + 6])}
end
