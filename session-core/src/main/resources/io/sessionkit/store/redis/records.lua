-- KEYS the four of session.lua  ARGV kind  Returns the records of the kind that have not expired, each
-- with its id as the first value.
local now = clock()
if not stored_header(now) then return answer({}) end
local prefix, records = ARGV[1] .. '\0', {}
for _, field in ipairs(redis.call('HKEYS', RECORDS)) do
	if string.sub(field, 1, #prefix) == prefix then
		local id = string.sub(field, #prefix + 1)
		local found = record(ARGV[1], id, now)
		if found then
			table.insert(found, 1, id)
			records[#records + 1] = found
		end
	end
end
return answer(records)
