-- KEYS pairs of the header and the turns of a session
-- Returns the header of each session; an empty text for each session that is absent.
local now, headers = clock(), {}
for i = 1, #KEYS, 2 do
	HEADER = KEYS[i]
	headers[#headers + 1] = stored_header(now) or ''
end
return answer(headers)
