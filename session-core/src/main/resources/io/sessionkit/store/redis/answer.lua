-- Every script answers with one text, so that a driver receives either the whole answer or none. The text
-- is the token of the request, which is its last argument, the length of the rest, a line feed, then the
-- packed values.
local function answer(values)
	local packed = cmsgpack.pack(values)
	return ARGV[#ARGV] .. ' ' .. #packed .. '\n' .. packed
end

