-- Functions for the scripts that write records. The expected revision -1 stands for any, 0 for none.
local function as_expected(write, now)
	local there = record(write.kind, write.id, now)
	return write.expected == -1 or write.expected == (there and there[REVISION] or 0)
end

local function write_record(write, now)
	local field = write.kind .. '\0' .. write.id
	if not write.payload then
		redis.call('HDEL', RECORDS, field)
		return
	end
	local there = record(write.kind, write.id, now)
	redis.call('HSET', RECORDS, field, cmsgpack.pack({there and there[REVISION] + 1 or write.first, now,
		write.ttl and now + write.ttl or '', write.payload}))
end

-- kind, id, expected revision, first revision, whether there is a payload, payload, time to live or ''
local function read_write(from)
	return {kind = ARGV[from], id = ARGV[from + 1], expected = tonumber(ARGV[from + 2]),
		first = tonumber(ARGV[from + 3]), payload = ARGV[from + 4] == '1' and ARGV[from + 5],
		ttl = tonumber(ARGV[from + 6])}
end
