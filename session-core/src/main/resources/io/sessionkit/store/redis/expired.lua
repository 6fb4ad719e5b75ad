-- Functions that remove expired records. Those that indexes of all owners list stay until their session is erased, which
-- finds by them what leads to them.

-- Removes records that have expired, given by their fields. Fails if this server may not write now, as a replica may not.
local function remove_expired(fields)
	for from = 1, #fields, SLICE do
		redis.call('HDEL', RECORDS, unpack(fields, from, math.min(#fields, from + SLICE - 1)))
	end
	for _, field in ipairs(fields) do
		if string.find(field, SUMMARY .. '\0', 1, true) == 1 then change_covering(string.sub(field, #SUMMARY + 2)) end
	end
end

-- Returns when a record expires; nil for never, or if it cannot be read.
local function expiry_of(packed)
	local read, found = pcall(cmsgpack.unpack, packed)
	return read and type(found) == 'table' and tonumber(found[EXPIRES]) or nil
end

-- Returns fields of records that have expired, up to a limit, and when the next record expires, nil for never.
local function find_expired(now, limit)
	local fields, expires, cursor = {}, nil, '0'
	repeat
		local found = redis.call('HSCAN', RECORDS, cursor, 'COUNT', SLICE)
		cursor = found[1]
		for i = 1, #found[2], 2 do
			local field = found[2][i]
			local behind = string.find(field, '\0', 2, true)
			local at = behind and not LISTED[string.sub(field, 1, behind - 1)] and expiry_of(found[2][i + 1])
			if at and at <= now then
				fields[#fields + 1] = field
				if #fields == limit then return fields, now end
			elseif at then
				expires = math.min(expires or at, at)
			end
		end
	until cursor == '0'
	return fields, expires
end

-- Removes the records that have expired, up to a limit, without reading them if the field says that there are none.
-- Leaves a key of another type alone. Returns how many it removed.
local function delete_expired(now, limit)
	local noted = redis.pcall('HGET', RECORDS, 'expires')
	noted = type(noted) == 'string' and tonumber(noted)
	if not noted or noted > now then return 0 end
	local fields, expires = find_expired(now, limit)
	remove_expired(fields)
	if expires then
		-- a server that is full refuses this, and takes deletions
		redis.pcall('HSET', RECORDS, 'expires', digits(expires))
	else
		redis.call('HDEL', RECORDS, 'expires')
	end
	return #fields
end
