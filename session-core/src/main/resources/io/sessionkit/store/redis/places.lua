-- Places in the tree of turns. A place is a table of head, lo and run_parent: a turn, 0 for the beginning, and the
-- unbroken run of turn numbers up to it.
local BEGINNING = {head = 0, lo = 1, run_parent = 0, attributes = ''}

local function place_of(number)
	local found = turn(number)
	if not found then return BEGINNING end
	found.head = number
	return found
end

local function is_on_path(wanted, from)
	if wanted < 1 then return false end
	while from.lo > wanted do from = place_of(from.run_parent) end
	return wanted <= from.head
end

-- Returns the newest summary on the path of a place: the last turn that it covers, 0 for none, and its id. Those whose
-- ids are in the table of gone ones, if there is one, do not count.
local function newest_summary(from, now, gone)
	local list = covering()
	for i = #list - 2, 1, -3 do
		local covered, id, expires = list[i], list[i + 1], list[i + 2]
		while from.lo > covered do from = place_of(from.run_parent) end
		local counts = (expires == '' or expires > now) and not (gone and gone[id])
		if covered <= from.head and counts then return covered, id end
	end
	return 0, ''
end

-- Returns the items and tokens of a turn.
local function counts(text)
	local _, stop, attributes = string.find(text, '^%d+ %d+ (%d+)\n')
	local items, tokens = string.match(text, '^[%u_]+ [01] %d+ (%d+) (%-?%d+) ', stop + attributes + 1)
	return tonumber(items), tonumber(tokens)
end

-- Adds turns to totals, or subtracts them. One without items does not count.
local function add_turns(totals, sign, low, high)
	each(low, high, SLICE, function(_, text)
		local items, tokens = counts(text)
		if items > 0 then totals.viewTurns = totals.viewTurns + sign end
		totals.viewItems = totals.viewItems + sign * items
		totals.viewTokens = totals.viewTokens + sign * tokens
	end)
end

-- Returns the runs of turns that are only on the path of one of two places, first those of the one, then those of the
-- other, and how many turns the one has. Turns of one run have the same lo.
local function between(one, other)
	local of_one, of_other, turns = {}, {}, 0
	local function leave(low, high)
		of_one[#of_one + 1] = {low, high}
		turns = turns + high - low + 1
	end
	while one.lo ~= other.lo do
		if one.lo > other.lo then
			leave(one.lo, one.head)
			one = place_of(one.run_parent)
		else
			of_other[#of_other + 1] = {other.lo, other.head}
			other = place_of(other.run_parent)
		end
	end
	if one.head > other.head then
		leave(other.head + 1, one.head)
	elseif other.head > one.head then
		of_other[#of_other + 1] = {one.head + 1, other.head}
	end
	return of_one, of_other, turns
end

-- Returns the totals of the view that starts behind the last turn of a summary on the path of a place. Those of another
-- place are known: behind the same turn only those count that are on one of the two paths, unless these are more than
-- the view.
local function totals_at(there, summary_turn, known)
	if summary_turn == known.summaryTurn then
		local left, reached, turns = between(known, there)
		if 2 * turns <= known.viewTurns then
			local totals = {viewTurns = known.viewTurns, viewItems = known.viewItems, viewTokens = known.viewTokens}
			for _, run in ipairs(left) do add_turns(totals, -1, run[1], run[2]) end
			for _, run in ipairs(reached) do add_turns(totals, 1, run[1], run[2]) end
			return totals
		end
	end
	local totals = {viewTurns = 0, viewItems = 0, viewTokens = 0}
	walk(there.head, there.lo, there.run_parent, summary_turn, function(low, high) add_turns(totals, 1, low, high) end)
	return totals
end


-- Returns the turn that follows another one on the path of a place; 0 if there is none.
local function next_on_path(number, from)
	while from.head > number do
		if from.lo <= number then return number + 1 end
		if from.run_parent == number then return from.lo end
		from = place_of(from.run_parent)
	end
	return 0
end
