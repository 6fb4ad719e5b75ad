-- KEYS the four of session.lua, for each record  ARGV kind, then the id of each record
-- Returns for each record a list of it alone, or an empty one.
local now, records = clock(), {}
for i = 1, #KEYS / 4 do
	HEADER, RECORDS = KEYS[4 * i - 3], KEYS[4 * i - 1]
	local id = ARGV[i + 1]
	local found = stored_header(now) and record(ARGV[1], id, now)
	if found then
		table.insert(found, 1, id)
		table.insert(found, 1, ARGV[1])
	end
	records[i] = found and {found} or {}
end
return answer(records)
