-- KEYS the four of session.lua  ARGV sequence or '', limit or ''
-- Returns pairs of a turn and a list of its text, the newest first, with at least as many items before the
-- sequence as the limit says, if there are so many.
local text = stored_header(clock())
local before, left = tonumber(ARGV[1]), tonumber(ARGV[2])
if not text or left == 0 then return answer({}) end
local header = named(text)
local found = {}

local function newest(low, high)
	return before and begun_by(before - 1, low, high) or high
end

-- Counts what a turn has before the sequence. A turn that was stored at once lies before all newer ones; in the newest
-- one, items may have been deleted, so that their number does not say where it ends.
local begun = false
local function count(of)
	if not before or begun and of.parts == 1 then return of.items end
	begun = true
	local at, items = 1, 0
	while at <= #of.body do
		local _, stop, sequence, size = string.find(of.body, '^(%d+) %-?%d+ %-?%d+ (%d+)\n', at)
		if tonumber(sequence) < before then items = items + 1 end
		at = stop + size + 1
	end
	return items
end

walk(header.head, header.lo, header.run_parent, 0, function(low, high)
	return each(low, newest(low, high), left and math.min(left, 100) or SLICE, function(number, turn_text)
		found[#found + 1] = number
		found[#found + 1] = {turn_text}
		if left then left = left - count(read_turn(turn_text, number)) end
		return not left or left > 0
	end)
end)
return answer(found)
