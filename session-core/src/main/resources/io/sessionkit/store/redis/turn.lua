-- KEYS the four of session.lua  ARGV number  Returns the turn and a list of its text, if there is such a turn.
local text, number = stored_header(clock()), tonumber(ARGV[1])
if not text then return answer({}) end
named(text)
if number < 1 or number > listed then return answer({}) end
local found = redis.call('LINDEX', TURNS, place(number))
if found == APART then
	found = whole(number)
	found = found and packed_turn(found)
end
if not found then lost() end
return answer({number, {found}})
