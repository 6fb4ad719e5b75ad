-- KEYS session, records  ARGV turns, items; '' for no limit
-- Returns nothing, or the header, the summary, and pairs of a turn and its items, the newest first.
local now = clock()
local values = stored_header(now)
if not values then return answer({}) end
local header = named(values)
local turns, items = tonumber(ARGV[1]), tonumber(ARGV[2])

local found = {}
local function add(number, packed)
	if packed and packed ~= '' then
		found[#found + 1] = number
		found[#found + 1] = packed
	end
end

-- counting back from the newest, the first turn that does not fit as a whole excludes all older ones
local function oldest_that_fits(low, high)
	local oldest = high + 1
	each('t:', low, high, 100, function(number, packed)
		local size = cmsgpack.unpack(packed)[ITEMS]
		if size > items then return false end
		items = items - size
		oldest = number
	end)
	return oldest
end

if turns ~= 0 and items ~= 0 then
	walk(header.head, header.runLo, header.runParent, header.cp, function(low, high)
		if turns then
			low = math.max(low, high - turns + 1)
			turns = turns - (high - low + 1)
		end
		local from = items and oldest_that_fits(low, high) or low
		each('m:', from, high, SLICE, add)
		return from == low and turns ~= 0
	end)
end

local checkpoint = header.cpId ~= '' and record('checkpoint', header.cpId, now)
return answer({values, checkpoint or {}, found})
