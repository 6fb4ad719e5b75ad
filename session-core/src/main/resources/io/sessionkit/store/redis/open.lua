-- KEYS the four of session.lua
-- ARGV turns, items, '' for no limit; the stamp of the header that the caller knows, '' for none; revision and
--   time of the summary that the caller knows, 0 for none
-- Returns nothing; or the header and what the caller knows of the rest: 1 for all, 2 for all but up to three turns that
-- were appended since, 0 for nothing. Unless it is all, the summary follows (left out at 2), and pairs of a turn and a
-- list of it and of those right before it, the newest first. In most sessions all turns are one run up to the head,
-- without a summary, and have items. Of these it returns a text instead of a list, which begins with a character and
-- the header: '=' if the caller knows all; '~' if it knows all but the turns that follow; '+' if the newest turns of
-- the window follow. The newest turn comes first, and each tells where it ends.
-- No function is built for these. The answers are packed as answer.lua would.
local text = redis.call('GET', KEYS[1])
if not text then return ARGV[#ARGV] .. ' 1\n\144' end
local time
local expires = string.sub(text, 17, 36)
if expires ~= '00000000000000000000' then
	time = redis.call('TIME')
	expires = tonumber(expires)
	if expires and expires <= time[1] * 1000000 + time[2] then return ARGV[#ARGV] .. ' 1\n\144' end
end
local known = ARGV[3] ~= '' and string.sub(text, 85, 100) == ARGV[3]
local state = string.find(text, '\n', 101, true) or #text
-- the turns that were appended to what the caller knows, if nothing else was done since
local place = ARGV[3] ~= '' and not known and string.find(string.sub(text, 37, 84), ARGV[3], 1, true)
local added = place and place % 16 == 1 and (65 - place) / 16 - 1

local token, size, is_run = ARGV[#ARGV], #text + 1, string.byte(text, state + 34) == 115
if is_run and known then return token .. ' ' .. size .. '\n=' .. text end
if is_run and added then
	local turns = redis.call('LRANGE', KEYS[2], 0, added - 1)
	local newest = table.concat(turns)
	if #turns == added then return token .. ' ' .. size + #newest .. '\n~' .. text .. newest end
end
if is_run and ARGV[1] ~= '' and ARGV[1] ~= '0' and ARGV[2] == '' then
	local turns = redis.call('LRANGE', KEYS[2], 0, ARGV[1] - 1)
	for i = 1, #turns do size = size + #turns[i] end
	if #turns > 0 and #turns <= 20 then
		-- one operation copies everything once
		return token .. ' ' .. size .. '\n+' .. text
			.. turns[1] .. (turns[2] or '') .. (turns[3] or '') .. (turns[4] or '') .. (turns[5] or '')
			.. (turns[6] or '') .. (turns[7] or '') .. (turns[8] or '') .. (turns[9] or '') .. (turns[10] or '')
			.. (turns[11] or '') .. (turns[12] or '') .. (turns[13] or '') .. (turns[14] or '') .. (turns[15] or '')
			.. (turns[16] or '') .. (turns[17] or '') .. (turns[18] or '') .. (turns[19] or '') .. (turns[20] or '')
	end
	return token .. ' ' .. size .. '\n+' .. text .. table.concat(turns)
end

