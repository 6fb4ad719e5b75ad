-- KEYS the four of session.lua  ARGV kind, id  Returns a list of the record alone, or an empty one.
local now = clock()
if not stored_header(now) then return answer({}) end
local found = record(ARGV[1], ARGV[2], now)
if not found then return answer({}) end
table.insert(found, 1, ARGV[2])
table.insert(found, 1, ARGV[1])
return answer({found})
