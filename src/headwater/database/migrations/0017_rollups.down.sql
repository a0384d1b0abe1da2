drop table health_marks;
drop table source_days;
drop table figure_totals;
drop table rollup_mark;
drop table rollup_totals;
drop table rollup_hours;
drop table rollup_minutes;
