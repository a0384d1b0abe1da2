DROP INDEX channels_idle;
DROP INDEX channels_worst;
