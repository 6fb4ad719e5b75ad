-- Every script answers with one text, so that a driver has an answer whole or not at all: the token of
-- the request, which is its last argument, the length of what follows, a line feed, then the values packed.
local function answer(values)
	local packed = cmsgpack.pack(values)
	return ARGV[#ARGV] .. ' ' .. #packed .. '\n' .. packed
end

