-- KEYS session, records  ARGV sequence or '', limit or ''
-- Returns pairs of a turn and its items, the newest first, with at least as many items before the
-- sequence as the limit says, if there are so many.
local values = stored_header(clock())
local before, left = tonumber(ARGV[1]), tonumber(ARGV[2])
if not values or left == 0 then return answer({}) end
local header = named(values)
local found = {}

-- Returns the newest turn of a run that may have an item before the sequence: turns are numbered in
-- the order of their first items.
local function newest(low, high)
	while before and low <= high do
		local middle = math.floor((low + high) / 2)
		if turn(middle)[FIRST] < before then low = middle + 1 else high = middle - 1 end
	end
	return high
end

local function count(packed)
	local at, items = 1, 0
	while at <= #packed do
		local _, stop, sequence, size = string.find(packed, '^(%d+) %-?%d+ %d+ (%d+)\n', at)
		if not before or tonumber(sequence) < before then items = items + 1 end
		at = stop + size + 1
	end
	return items
end

walk(header.head, header.runLo, header.runParent, 0, function(low, high)
	return each('m:', low, newest(low, high), left and math.min(left, 100) or SLICE, function(number, packed)
		if packed and packed ~= '' then
			found[#found + 1] = number
			found[#found + 1] = packed
			if left then left = left - count(packed) end
		end
		return not left or left > 0
	end)
end)
return answer(found)
