-- KEYS the four of session.lua  Returns the time, the stored incarnation, expired or not, the kinds of records
-- whose indexes list the session, and whether it has not expired.
local time = clock()
local text = redis.call('GET', HEADER)
local header = text and named(text)
local lives = header and not (header.expires and header.expires <= time)
return answer({time, header and header.incarnation or '', header and names(header.kinds) or {}, lives and 1 or 0})
