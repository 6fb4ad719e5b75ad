-- The summaries that commits have named, which 'covers' in the hash of records lists as session.lua describes it.
local SUMMARY = 'summary'

local function covering()
	local packed = redis.call('HGET', RECORDS, 'covers')
	return packed and cmsgpack.unpack(packed) or {}
end

local function save_covering(list)
	if #list > 0 then
		redis.call('HSET', RECORDS, 'covers', cmsgpack.pack(list))
	else
		redis.call('HDEL', RECORDS, 'covers')
	end
end

-- Changes the entry of a summary, if it has one, to the expiry of the record that has replaced a living one. Removes
-- it if there is no expiry: the record was deleted, or is another one.
local function change_covering(id, expires)
	local list = covering()
	for i = 1, #list, 3 do
		if list[i + 1] == id then
			if expires == list[i + 2] then return end
			if expires then
				list[i + 2] = expires
			else
				for _ = 1, 3 do table.remove(list, i) end
			end
			return save_covering(list)
		end
	end
end

-- Notes that a summary covers the turns up to this one, instead of any that did so. The entries of those that have
-- expired are left out.
local function cover(covered, id, now)
	local named, list, before = record(SUMMARY, id, now), {}, covering()
	local function add(...)
		for _, value in ipairs({...}) do list[#list + 1] = value end
	end
	for i = 1, #before, 3 do
		local other, other_id, expires = before[i], before[i + 1], before[i + 2]
		if named and other > covered then
			add(covered, id, named[EXPIRES])
			named = nil
		end
		if other ~= covered and other_id ~= id and (expires == '' or expires > now) then add(other, other_id, expires) end
	end
	if named then add(covered, id, named[EXPIRES]) end
	if #before > 0 or #list > 0 then save_covering(list) end
end

