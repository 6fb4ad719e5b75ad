-- KEYS session, records  Returns the time, which session is there, and the kinds of its records.
return answer({clock(), identity(), kinds_of_records()})
