-- KEYS the four of session.lua  ARGV number or '', limit or ''
-- Returns pairs of a turn and a list of its text, of the newest turns before the number, the newest first. The
-- texts end where the items would begin.
local text = stored_header(clock())
if not text then return answer({}) end
local high = named(text).turns
if ARGV[1] ~= '' then high = math.min(high, tonumber(ARGV[1]) - 1) end
local low = (ARGV[2] ~= '') and math.max(1, high - tonumber(ARGV[2]) + 1) or 1
local turns = {}
each(low, high, SLICE, function(number, found)
	turns[#turns + 1] = number
	turns[#turns + 1] = {without_items(found)}
end)
return answer(turns)
