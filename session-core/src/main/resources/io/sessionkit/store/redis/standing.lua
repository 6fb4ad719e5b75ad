-- KEYS the four of session.lua  Returns the time, the stored incarnation, expired or not, and the kinds of records
-- whose indexes list the session.
local text = redis.call('GET', HEADER)
local header = text and named(text)
return answer({clock(), header and header.incarnation or '', header and names(header.kinds) or {}})
