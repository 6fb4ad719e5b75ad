-- KEYS the four of session.lua  ARGV kind  Returns the records of the kind.
local now = clock()
if not stored_header(now) then return answer({}) end
return answer(records_of({[ARGV[1]] = true}, now))
