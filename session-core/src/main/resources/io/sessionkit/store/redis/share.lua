-- KEYS the two indexes of the records of all owners
-- ARGV the newest time of an entry that may be removed, then for each entry: 1 or 2 for the index, whether to add
-- or to remove it, the entry  Returns the time.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
for i = 2, #ARGV - 3, 3 do
	local index, entry = KEYS[tonumber(ARGV[i])], ARGV[i + 2]
	if ARGV[i + 1] == '1' then
		redis.call('ZADD', index, now, entry)
	else
		local at = redis.call('ZSCORE', index, entry)
		if at and tonumber(at) <= tonumber(ARGV[1]) then redis.call('ZREM', index, entry) end
	end
end
return answer({now})
