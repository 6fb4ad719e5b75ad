-- Returns the records of some kinds that have not expired, each with its kind and id as the first values. Removes those
-- that have, if this server may write and they need not stay.
local function records_of(wanted, now)
	local records, expired = {}, {}
	for _, field in ipairs(redis.call('HKEYS', RECORDS)) do
		local at = string.find(field, '\0', 1, true)
		local kind = at and string.sub(field, 1, at - 1)
		if kind and wanted[kind] then
			local id = string.sub(field, at + 1)
			local found = record(kind, id, now)
			if found then
				table.insert(found, 1, id)
				table.insert(found, 1, kind)
				records[#records + 1] = found
			elseif not LISTED[kind] then
				expired[#expired + 1] = field
			end
		end
	end
	pcall(remove_expired, expired)
	return records
end

