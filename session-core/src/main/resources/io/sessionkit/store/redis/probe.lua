-- KEYS two of different hash slots  Is refused where one script may not have both.
return answer({#KEYS})
