-- KEYS two of different hash slots  The server refuses this script if one script may not use both.
return answer({#KEYS})
