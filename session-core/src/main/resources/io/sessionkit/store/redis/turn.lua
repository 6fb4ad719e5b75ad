-- KEYS the four of session.lua  ARGV number, kinds...  Returns the turn, a list of its text and the records of
-- the kinds, if there is such a turn.
local now = clock()
local text, number = stored_header(now), tonumber(ARGV[1])
if not text then return answer({}) end
named(text)
if number < 1 or number > listed then return answer({}) end
local found = redis.call('LINDEX', TURNS, place(number))
if found == APART then found = packed_apart(number) end
if not found then lost() end
local kinds = {}
for i = 2, #ARGV - 1 do kinds[ARGV[i]] = true end
return answer({number, {found}, next(kinds) and records_of(kinds, now) or {}})
