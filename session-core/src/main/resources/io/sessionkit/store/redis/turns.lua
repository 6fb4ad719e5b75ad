-- KEYS session, records  ARGV number or '', limit or ''
-- Returns the newest turns before the number, each with its number as the first value, the newest first.
local values = stored_header(clock())
if not values then return answer({}) end
local high = named(values).turns
if ARGV[1] ~= '' then high = math.min(high, tonumber(ARGV[1]) - 1) end
local low = (ARGV[2] ~= '') and math.max(1, high - tonumber(ARGV[2]) + 1) or 1
local turns = {}
each('t:', low, high, SLICE, function(number, packed)
	local unpacked = cmsgpack.unpack(packed)
	table.insert(unpacked, 1, number)
	turns[#turns + 1] = unpacked
end)
return answer(turns)
