-- The end of plain.lua, if the entry in the index of sessions is to be written again.
local lag, slack, session = string.match(ARGV[7], '^(%d+) (%d+) (.*)$')
touch(KEYS[5], KEYS[6], session, tonumber(now), tonumber(ARGV[6]), tonumber(slack))
redis.call('SETRANGE', KEYS[1], 100 + #ARGV[2] - 16, string.format('%016.0f', now + lag))
return ARGV[#ARGV] .. ' 2\n\145\1'
