-- KEYS session, records, and so on for more sessions
-- Returns the header of each session; an empty one for each session that is absent.
local now = clock()
local headers = {}
for i = 1, #KEYS, 2 do
	SESSION = KEYS[i]
	headers[#headers + 1] = stored_header(now) or {}
end
return answer(headers)
